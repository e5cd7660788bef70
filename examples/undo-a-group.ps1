# Change several files as one set, look at it, and take the set back.
hearth fs write menu.txt --data 'soup' --group dinner --quiet
hearth fs write menu.txt --data 'soup and bread' --group dinner --quiet
hearth fs write guests.txt --data 'two' --group dinner --quiet
hearth fs find
hearth fs undo --group dinner --quiet
if ($LASTEXITCODE -ne 0) { exit $LASTEXITCODE }
'after the undo:'
hearth fs find
