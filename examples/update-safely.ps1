# Count up a number in a file that others change too: write only if the file is still the one that was read.
#     .\update-safely.ps1 FILE
param([Parameter(Mandatory = $true)][string]$File)
while ($true) {
    $hash = (hearth fs stat $File --sha256 --json | ConvertFrom-Json).sha256
    $next = [int](Get-Content -Raw $File) + 1
    hearth fs write $File --data "$next" --expected-sha256 $hash --quiet
    if ($LASTEXITCODE -eq 0) { break }
    if ($LASTEXITCODE -ne 3) { exit $LASTEXITCODE }
    [Console]::Error.WriteLine('somebody was quicker, once more')
}
"$File is $next now"
