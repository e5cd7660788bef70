# Many calls in one process: a request a line in, an answer a line out. Prints the id of each call that failed.
#     .\many-calls.ps1 many-calls.ndjson
param([Parameter(Mandatory = $true)][string]$Requests)
$answers = @(Get-Content $Requests | hearth call --batch --ordered | ForEach-Object { $_ | ConvertFrom-Json })
$status = $LASTEXITCODE
$answers | Where-Object { $_.exit_status -ne 0 } | ForEach-Object { "failed: $($_.id)" }
"$($answers.Count) answers"
exit $status
