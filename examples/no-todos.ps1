# A gate for CI: list what is still to do, and fail if there is anything.
#     .\no-todos.ps1 [FOLDER]
param([string]$Folder = '.')
$found = hearth fs search 'TODO' $Folder --json | ConvertFrom-Json
if ($found.matches.Count -gt 0) {
    'still to do:'
    $found.matches | ForEach-Object { "$($_.path)`t$($_.line)`t$($_.text)" }
    exit 1
}
'nothing left to do'
