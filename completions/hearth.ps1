# Completion of hearth in PowerShell; `hearth completion show powershell` makes it anew.

Register-ArgumentCompleter -Native -CommandName @('hearth', 'hearth.exe') -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    # What may follow the words: commands, and what the arguments take.
    $commands = @{
        '' = @('machine', 'fs', 'task', 'artifact', 'recipe', 'run', 'doctor', 'config', 'db', 'worker', 'conversation', 'gc', 'call', 'serve', 'operations', 'schema', 'demo', 'completion')
        'machine' = @('exec', 'batch', 'which', 'env', 'host-info', 'process-list', 'process-kill', 'process-wait')
        'fs' = @('list', 'find', 'read', 'search', 'stat', 'watch', 'hash', 'write', 'patch', 'mkdir', 'move', 'copy', 'delete', 'chmod', 'undo', 'redo', 'diff', 'history')
        'task' = @('submit', 'get', 'list', 'wait', 'cancel', 'retry', 'status', 'logs', 'send', 'groups', 'group', 'pause', 'resume', 'stats', 'workers', 'schedule', 'schedules', 'unschedule', 'enable', 'disable', 'next', 'prune')
        'artifact' = @('list', 'metadata', 'read', 'range', 'search', 'put', 'export', 'pin', 'unpin', 'delete', 'gc')
        'recipe' = @('suggest')
        'run' = @('arrivals')
        'config' = @('show', 'get', 'set', 'unset', 'roots', 'path', 'check', 'trust', 'import')
        'db' = @('path', 'tables', 'schema', 'query', 'backup', 'vacuum', 'check')
        'conversation' = @('list')
        'completion' = @('show', 'install')
    }
    $arguments = @{
        'machine exec' = @('any', 'any+')
        'machine batch' = @('any+')
        'machine which' = @('any+')
        'machine env' = @('any+')
        'machine process-list' = @('any')
        'machine process-kill' = @('any')
        'machine process-wait' = @('any')
        'fs list' = @('path')
        'fs find' = @('any+')
        'fs read' = @('path+')
        'fs search' = @('any', 'path')
        'fs stat' = @('path')
        'fs watch' = @('path')
        'fs hash' = @('path+')
        'fs write' = @('path')
        'fs patch' = @('path')
        'fs mkdir' = @('path')
        'fs move' = @('path', 'path')
        'fs copy' = @('path', 'path')
        'fs delete' = @('path')
        'fs chmod' = @('any', 'path')
        'fs undo' = @('id:receipt')
        'fs redo' = @('id:receipt')
        'fs diff' = @('id:receipt')
        'fs history' = @('path')
        'task submit' = @('any', 'any+')
        'task get' = @('id:job')
        'task wait' = @('id:job+')
        'task cancel' = @('id:job+')
        'task retry' = @('id:job+')
        'task status' = @('id:job')
        'task logs' = @('id:job')
        'task send' = @('id:job', 'any')
        'task group' = @('id:group')
        'task pause' = @('id:group+')
        'task resume' = @('id:group+')
        'task schedule' = @('id:schedule', 'any', 'any+')
        'task schedules' = @('id:schedule+')
        'task unschedule' = @('id:schedule+')
        'task enable' = @('id:schedule+')
        'task disable' = @('id:schedule+')
        'task next' = @('id:schedule')
        'task prune' = @('id:job+')
        'artifact metadata' = @('id:artifact')
        'artifact read' = @('id:artifact')
        'artifact range' = @('id:artifact')
        'artifact search' = @('id:artifact', 'any')
        'artifact put' = @('path')
        'artifact export' = @('id:artifact', 'path')
        'artifact pin' = @('id:artifact+')
        'artifact unpin' = @('id:artifact+')
        'artifact delete' = @('id:artifact+')
        'config get' = @('words:data_dir,roots,log,max_output_bytes,artifact_preview_bytes,max_artifact_bytes,command_timeout_ms,max_concurrent_futures,future_input_max_bytes,recipe_max_steps,isolation,oracle.command,oracle.armed,machine.env_allow,fs.sync,fs.hard_links,fs.lock_timeout_ms,fs.backup_max_bytes,secrets.on_persist,retention.events_days,retention.events_max,retention.receipts_days,retention.backups_max_bytes,retention.artifacts_days,retention.artifacts_max_bytes,retention.jobs_days,retention.jobs_max,retention.mailbox_days,worker.idle_exit_s,worker.parallel,worker.output_max_bytes,serve.host,serve.port,serve.tools,serve.wait_ms,serve.answer_max_bytes,serve.lane,serve.shutdown_grace_s,serve.origins,serve.max_body_bytes,serve.max_connections,serve.request_timeout_s')
        'config set' = @('words:data_dir,roots,log,max_output_bytes,artifact_preview_bytes,max_artifact_bytes,command_timeout_ms,max_concurrent_futures,future_input_max_bytes,recipe_max_steps,isolation,oracle.command,oracle.armed,machine.env_allow,fs.sync,fs.hard_links,fs.lock_timeout_ms,fs.backup_max_bytes,secrets.on_persist,retention.events_days,retention.events_max,retention.receipts_days,retention.backups_max_bytes,retention.artifacts_days,retention.artifacts_max_bytes,retention.jobs_days,retention.jobs_max,retention.mailbox_days,worker.idle_exit_s,worker.parallel,worker.output_max_bytes,serve.host,serve.port,serve.tools,serve.wait_ms,serve.answer_max_bytes,serve.lane,serve.shutdown_grace_s,serve.origins,serve.max_body_bytes,serve.max_connections,serve.request_timeout_s', 'any')
        'config unset' = @('words:data_dir,roots,log,max_output_bytes,artifact_preview_bytes,max_artifact_bytes,command_timeout_ms,max_concurrent_futures,future_input_max_bytes,recipe_max_steps,isolation,oracle.command,oracle.armed,machine.env_allow,fs.sync,fs.hard_links,fs.lock_timeout_ms,fs.backup_max_bytes,secrets.on_persist,retention.events_days,retention.events_max,retention.receipts_days,retention.backups_max_bytes,retention.artifacts_days,retention.artifacts_max_bytes,retention.jobs_days,retention.jobs_max,retention.mailbox_days,worker.idle_exit_s,worker.parallel,worker.output_max_bytes,serve.host,serve.port,serve.tools,serve.wait_ms,serve.answer_max_bytes,serve.lane,serve.shutdown_grace_s,serve.origins,serve.max_body_bytes,serve.max_connections,serve.request_timeout_s')
        'config trust' = @('path')
        'config import' = @('path')
        'db schema' = @('any')
        'db query' = @('any')
        'db backup' = @('path')
        'call' = @('words:machine.exec,machine.batch,machine.which,machine.env,machine.host_info,machine.process_list,machine.process_kill,machine.process_wait,fs.list,fs.find,fs.read,fs.search,fs.stat,fs.watch,fs.hash,fs.write,fs.patch,fs.mkdir,fs.move,fs.copy,fs.delete,fs.chmod,fs.undo,fs.redo,fs.diff,fs.history,task.submit,task.get,task.list,task.wait,task.cancel,task.retry,task.status,task.logs,task.send,task.groups,task.group,task.pause,task.resume,task.stats,task.workers,task.schedule,task.schedules,task.unschedule,task.enable,task.disable,task.next,task.prune,artifact.list,artifact.metadata,artifact.read,artifact.range,artifact.search,artifact.put,artifact.export,artifact.pin,artifact.unpin,artifact.delete,artifact.gc,recipe.suggest,run.arrivals,self.doctor,self.config_show,self.config_get,self.config_set,self.config_unset,self.config_roots,self.config_path,self.config_check,self.config_trust,self.config_import,self.db_path,self.db_tables,self.db_schema,self.db_query,self.db_backup,self.db_vacuum,self.db_check,self.worker,self.conversation_list,self.gc', 'any')
        'operations' = @('words:machine,fs,task,artifact,recipe,run,self')
        'schema' = @('words:machine.exec,machine.batch,machine.which,machine.env,machine.host_info,machine.process_list,machine.process_kill,machine.process_wait,fs.list,fs.find,fs.read,fs.search,fs.stat,fs.watch,fs.hash,fs.write,fs.patch,fs.mkdir,fs.move,fs.copy,fs.delete,fs.chmod,fs.undo,fs.redo,fs.diff,fs.history,task.submit,task.get,task.list,task.wait,task.cancel,task.retry,task.status,task.logs,task.send,task.groups,task.group,task.pause,task.resume,task.stats,task.workers,task.schedule,task.schedules,task.unschedule,task.enable,task.disable,task.next,task.prune,artifact.list,artifact.metadata,artifact.read,artifact.range,artifact.search,artifact.put,artifact.export,artifact.pin,artifact.unpin,artifact.delete,artifact.gc,recipe.suggest,run.arrivals,self.doctor,self.config_show,self.config_get,self.config_set,self.config_unset,self.config_roots,self.config_path,self.config_check,self.config_trust,self.config_import,self.db_path,self.db_tables,self.db_schema,self.db_query,self.db_backup,self.db_vacuum,self.db_check,self.worker,self.conversation_list,self.gc')
        'completion show' = @('words:bash,zsh,fish,powershell')
    }
    # Options by the words before them; the value is what the option takes, '' for a switch.
    $options = @{
        '' = [ordered]@{
            '--version' = ''
        }
        'machine exec' = [ordered]@{
            '--cwd' = 'path'
            '--env' = 'any'
            '--env-policy' = 'words:inherit,minimal,explicit'
            '--stdin' = 'any'
            '--stdin-from' = 'path'
            '--timeout-ms' = 'any'
            '--timeout' = 'any'
            '--grace-ms' = 'any'
            '--grace' = 'any'
            '--cpu-seconds' = 'any'
            '--memory-bytes' = 'any'
            '--memory' = 'any'
            '--encoding' = 'any'
            '--merged' = ''
            '--no-merged' = ''
        }
        'machine batch' = [ordered]@{
            '--fail-fast' = ''
            '--no-fail-fast' = ''
        }
        'machine env' = [ordered]@{
            '--env-policy' = 'words:inherit,minimal,explicit'
            '--values' = ''
            '--no-values' = ''
        }
        'machine process-list' = [ordered]@{
            '--pid' = 'any'
            '--pids' = 'any'
            '--name' = 'any'
            '--user' = 'any'
            '--port' = 'any'
            '--ports' = ''
            '--no-ports' = ''
            '--tree' = ''
            '--no-tree' = ''
            '--sort' = 'words:pid,name,user,cpu,memory,started'
            '--sample-ms' = 'any'
            '--sample' = 'any'
            '-n' = 'any'
            '--limit' = 'any'
        }
        'machine process-kill' = [ordered]@{
            '--started-at' = 'any'
            '--name' = 'any'
            '--all' = ''
            '--no-all' = ''
            '--tree' = ''
            '--no-tree' = ''
            '--signal' = 'words:term,kill,int,hup,quit,usr1,usr2,stop,cont'
            '--grace-ms' = 'any'
            '--grace' = 'any'
            '--dry-run' = ''
            '--no-dry-run' = ''
        }
        'machine process-wait' = [ordered]@{
            '--started-at' = 'any'
            '--port' = 'any'
            '--host' = 'any'
            '--address' = 'any'
            '--until' = 'words:listens,closes'
            '--timeout-ms' = 'any'
            '--timeout' = 'any'
        }
        'fs list' = [ordered]@{
            '-d' = 'any'
            '--depth' = 'any'
            '-g' = 'any'
            '--glob' = 'any'
            '--globs' = 'any'
            '--kind' = 'words:file,directory,link,fifo,socket,device'
            '--kinds' = 'words:file,directory,link,fifo,socket,device'
            '--hidden' = ''
            '--no-hidden' = ''
            '--ignored' = ''
            '--no-ignored' = ''
            '-n' = 'any'
            '--limit' = 'any'
            '--cursor' = 'any'
            '--totals' = ''
            '--no-totals' = ''
            '--timeout-ms' = 'any'
            '--timeout' = 'any'
        }
        'fs find' = [ordered]@{
            '--in' = 'path'
            '--path' = 'path'
            '--regex' = 'any'
            '--name-regex' = 'any'
            '--kind' = 'words:file,directory,link,fifo,socket,device'
            '--kinds' = 'words:file,directory,link,fifo,socket,device'
            '--min-bytes' = 'any'
            '--min' = 'any'
            '--max-bytes' = 'any'
            '--max' = 'any'
            '--modified-after' = 'any'
            '--modified-before' = 'any'
            '-d' = 'any'
            '--depth' = 'any'
            '--hidden' = ''
            '--no-hidden' = ''
            '--ignored' = ''
            '--no-ignored' = ''
            '-n' = 'any'
            '--limit' = 'any'
            '--max-entries' = 'any'
            '--timeout-ms' = 'any'
            '--timeout' = 'any'
        }
        'fs read' = [ordered]@{
            '--offset' = 'any'
            '--limit' = 'any'
            '--lines' = 'any'
            '--head' = 'any'
            '--tail' = 'any'
            '-N' = ''
            '--number' = ''
            '--no-number' = ''
            '--encoding' = 'any'
            '--replace-invalid' = ''
            '--no-replace-invalid' = ''
            '--sha256' = ''
            '--no-sha256' = ''
        }
        'fs search' = [ordered]@{
            '--in' = 'words:content,name'
            '-E' = ''
            '--regex' = ''
            '--no-regex' = ''
            '-i' = ''
            '--ignore-case' = ''
            '--no-ignore-case' = ''
            '-w' = ''
            '--word' = ''
            '--no-word' = ''
            '-C' = 'any'
            '--context' = 'any'
            '-g' = 'any'
            '--glob' = 'any'
            '--globs' = 'any'
            '-t' = 'any'
            '--type' = 'any'
            '--types' = 'any'
            '--hidden' = ''
            '--no-hidden' = ''
            '--ignored' = ''
            '--no-ignored' = ''
            '--binary' = ''
            '--no-binary' = ''
            '-m' = 'any'
            '--max-count' = 'any'
            '-n' = 'any'
            '--limit' = 'any'
            '--max-output-bytes' = 'any'
            '--max-output' = 'any'
            '--max-file-bytes' = 'any'
            '--max-file' = 'any'
            '--max-entries' = 'any'
            '--timeout-ms' = 'any'
            '--timeout' = 'any'
        }
        'fs stat' = [ordered]@{
            '--follow' = ''
            '--no-follow' = ''
            '--sha256' = ''
            '--no-sha256' = ''
        }
        'fs watch' = [ordered]@{
            '-g' = 'any'
            '--glob' = 'any'
            '--globs' = 'any'
            '--hidden' = ''
            '--no-hidden' = ''
            '--ignored' = ''
            '--no-ignored' = ''
            '-n' = 'any'
            '--count' = 'any'
            '--timeout-ms' = 'any'
            '--timeout' = 'any'
        }
        'fs hash' = [ordered]@{
            '-r' = ''
            '--recursive' = ''
            '--no-recursive' = ''
            '-g' = 'any'
            '--glob' = 'any'
            '--globs' = 'any'
            '--hidden' = ''
            '--no-hidden' = ''
            '--ignored' = ''
            '--no-ignored' = ''
            '-n' = 'any'
            '--limit' = 'any'
            '--timeout-ms' = 'any'
            '--timeout' = 'any'
        }
        'fs write' = [ordered]@{
            '--data' = 'any'
            '--from' = 'path'
            '--from-file' = 'path'
            '--encoding' = 'any'
            '--bom' = ''
            '--no-bom' = ''
            '--line-ends' = 'words:lf,crlf'
            '--append' = ''
            '--no-append' = ''
            '--create-only' = ''
            '--no-create-only' = ''
            '--expected-sha256' = 'any'
            '--parents' = ''
            '--no-parents' = ''
            '--permanent' = ''
            '--no-permanent' = ''
            '--group' = 'any'
            '--dry-run' = ''
            '--no-dry-run' = ''
        }
        'fs patch' = [ordered]@{
            '--old' = 'any'
            '--new' = 'any'
            '--count' = 'any'
            '--regex' = ''
            '--no-regex' = ''
            '--ignore-whitespace' = ''
            '--no-ignore-whitespace' = ''
            '--line-ends' = 'words:file,given'
            '--replacements' = 'any'
            '--insert' = 'any'
            '--replace' = 'any'
            '--delete' = 'any'
            '--diff' = 'any'
            '--fuzz' = 'any'
            '--encoding' = 'any'
            '--expected-sha256' = 'any'
            '--permanent' = ''
            '--no-permanent' = ''
            '--group' = 'any'
            '--dry-run' = ''
            '--no-dry-run' = ''
        }
        'fs mkdir' = [ordered]@{
            '-p' = ''
            '--parents' = ''
            '--no-parents' = ''
            '--group' = 'any'
            '--dry-run' = ''
            '--no-dry-run' = ''
        }
        'fs move' = [ordered]@{
            '--overwrite' = ''
            '--no-overwrite' = ''
            '--parents' = ''
            '--no-parents' = ''
            '--group' = 'any'
            '--dry-run' = ''
            '--no-dry-run' = ''
        }
        'fs copy' = [ordered]@{
            '-r' = ''
            '--recursive' = ''
            '--no-recursive' = ''
            '--follow' = ''
            '--no-follow' = ''
            '--overwrite' = ''
            '--no-overwrite' = ''
            '--parents' = ''
            '--no-parents' = ''
            '--group' = 'any'
            '--dry-run' = ''
            '--no-dry-run' = ''
        }
        'fs delete' = [ordered]@{
            '-r' = ''
            '--recursive' = ''
            '--no-recursive' = ''
            '--permanent' = ''
            '--no-permanent' = ''
            '--expected-sha256' = 'any'
            '--group' = 'any'
            '--dry-run' = ''
            '--no-dry-run' = ''
        }
        'fs chmod' = [ordered]@{
            '--group' = 'any'
            '--dry-run' = ''
            '--no-dry-run' = ''
        }
        'fs undo' = [ordered]@{
            '--last' = ''
            '--no-last' = ''
            '--group' = 'any'
            '--dry-run' = ''
            '--no-dry-run' = ''
        }
        'fs redo' = [ordered]@{
            '--last' = ''
            '--no-last' = ''
            '--group' = 'any'
            '--dry-run' = ''
            '--no-dry-run' = ''
        }
        'fs diff' = [ordered]@{
            '--max-bytes' = 'any'
            '--max' = 'any'
        }
        'fs history' = [ordered]@{
            '--since' = 'any'
            '--until' = 'any'
            '--caller' = 'words:shell,batch,mcp,recipe'
            '--group' = 'any'
            '-n' = 'any'
            '--limit' = 'any'
            '--cursor' = 'any'
        }
        'task submit' = [ordered]@{
            '--cwd' = 'path'
            '--env' = 'any'
            '--env-policy' = 'words:inherit,minimal,explicit'
            '--stdin' = 'any'
            '--open-stdin' = ''
            '--no-open-stdin' = ''
            '--merge' = ''
            '--no-merge' = ''
            '--timeout-ms' = 'any'
            '--timeout' = 'any'
            '--grace-ms' = 'any'
            '--grace' = 'any'
            '--cpu-seconds' = 'any'
            '--memory-bytes' = 'any'
            '--memory' = 'any'
            '--priority' = 'any'
            '--group' = 'any'
            '--label' = 'any'
            '--labels' = 'any'
            '--retry' = 'any'
            '--restart' = ''
            '--no-restart' = ''
            '--delay-ms' = 'any'
            '--delay' = 'any'
            '--run-at' = 'any'
            '--expires-at' = 'any'
            '--after' = 'any'
            '--dependencies' = 'any'
            '--idempotency-key' = 'any'
            '--id' = 'any'
            '--jobs' = 'any'
            '--file' = 'path'
            '--allow-missing' = ''
            '--no-allow-missing' = ''
            '--start' = ''
            '--no-start' = ''
            '--wait' = ''
            '--no-wait' = ''
            '--wait-timeout-ms' = 'any'
            '--wait-timeout' = 'any'
            '-f' = ''
            '--follow' = ''
            '--no-follow' = ''
            '--exit-code' = ''
            '--no-exit-code' = ''
        }
        'task list' = [ordered]@{
            '--job-state' = 'words:scheduled,queued,waiting,running,completed,failed,timed_out,cancelled,blocked,expired,lost'
            '--states' = 'words:scheduled,queued,waiting,running,completed,failed,timed_out,cancelled,blocked,expired,lost'
            '--unfinished' = ''
            '--no-unfinished' = ''
            '--group' = 'any'
            '--label' = 'any'
            '--labels' = 'any'
            '--text' = 'any'
            '--since' = 'any'
            '--until' = 'any'
            '--schedule' = 'id:schedule'
            '-n' = 'any'
            '--limit' = 'any'
            '--cursor' = 'any'
        }
        'task wait' = [ordered]@{
            '--group' = 'any'
            '--label' = 'any'
            '--labels' = 'any'
            '--until' = 'words:ended,started,completed,failed,timed_out,cancelled,blocked,expired,lost'
            '--until-state' = 'words:ended,started,completed,failed,timed_out,cancelled,blocked,expired,lost'
            '--any' = ''
            '--no-any' = ''
            '--timeout-ms' = 'any'
            '--timeout' = 'any'
            '--exit-code' = ''
            '--no-exit-code' = ''
        }
        'task cancel' = [ordered]@{
            '--group' = 'any'
            '--label' = 'any'
            '--labels' = 'any'
            '--grace-ms' = 'any'
            '--grace' = 'any'
            '--wait' = ''
            '--no-wait' = ''
        }
        'task retry' = [ordered]@{
            '--all-failed' = ''
            '--no-all-failed' = ''
            '--group' = 'any'
            '--label' = 'any'
            '--labels' = 'any'
            '--dependents' = ''
            '--no-dependents' = ''
            '--start' = ''
            '--no-start' = ''
        }
        'task logs' = [ordered]@{
            '--stream' = 'words:stdout,stderr,both,merged'
            '--attempt' = 'any'
            '--offset' = 'any'
            '--limit' = 'any'
            '--lines' = 'any'
            '--head' = 'any'
            '--tail' = 'any'
            '--encoding' = 'any'
            '-f' = ''
            '--follow' = ''
            '--no-follow' = ''
            '--exit-code' = ''
            '--no-exit-code' = ''
            '--wait-timeout-ms' = 'any'
            '--wait-timeout' = 'any'
        }
        'task send' = [ordered]@{
            '--newline' = ''
            '--no-newline' = ''
            '--eof' = ''
            '--no-eof' = ''
            '--wait-timeout-ms' = 'any'
            '--wait-timeout' = 'any'
        }
        'task groups' = [ordered]@{
            '-n' = 'any'
            '--limit' = 'any'
            '--cursor' = 'any'
        }
        'task group' = [ordered]@{
            '--parallel' = 'any'
            '--default' = ''
            '--no-default' = ''
        }
        'task pause' = [ordered]@{
            '--all' = ''
            '--no-all' = ''
        }
        'task resume' = [ordered]@{
            '--all' = ''
            '--no-all' = ''
        }
        'task stats' = [ordered]@{
            '--since' = 'any'
            '-l' = 'any'
            '--last-ms' = 'any'
            '--last' = 'any'
        }
        'task schedule' = [ordered]@{
            '--cwd' = 'path'
            '--env' = 'any'
            '--env-policy' = 'words:inherit,minimal,explicit'
            '--stdin' = 'any'
            '--open-stdin' = ''
            '--no-open-stdin' = ''
            '--merge' = ''
            '--no-merge' = ''
            '--timeout-ms' = 'any'
            '--timeout' = 'any'
            '--grace-ms' = 'any'
            '--grace' = 'any'
            '--cpu-seconds' = 'any'
            '--memory-bytes' = 'any'
            '--memory' = 'any'
            '--priority' = 'any'
            '--group' = 'any'
            '--label' = 'any'
            '--labels' = 'any'
            '--retry' = 'any'
            '--restart' = ''
            '--no-restart' = ''
            '--cron' = 'any'
            '--every-ms' = 'any'
            '--every' = 'any'
            '--zone' = 'any'
            '--missed' = 'words:skip,once,all'
            '--missed-most' = 'any'
            '--overlap' = 'words:skip,queue'
            '--replace' = ''
            '--no-replace' = ''
            '--start' = ''
            '--no-start' = ''
        }
        'task schedules' = [ordered]@{
            '-n' = 'any'
            '--limit' = 'any'
            '--cursor' = 'any'
        }
        'task enable' = [ordered]@{
            '--start' = ''
            '--no-start' = ''
        }
        'task next' = [ordered]@{
            '--cron' = 'any'
            '--every-ms' = 'any'
            '--every' = 'any'
            '--zone' = 'any'
            '-n' = 'any'
            '--limit' = 'any'
        }
        'task prune' = [ordered]@{
            '--job-state' = 'words:scheduled,queued,waiting,running,completed,failed,timed_out,cancelled,blocked,expired,lost'
            '--states' = 'words:scheduled,queued,waiting,running,completed,failed,timed_out,cancelled,blocked,expired,lost'
            '--group' = 'any'
            '--older-than-ms' = 'any'
            '--older-than' = 'any'
            '--keep' = 'any'
            '--all' = ''
            '--no-all' = ''
            '--dry-run' = ''
            '--no-dry-run' = ''
        }
        'artifact list' = [ordered]@{
            '--media-type' = 'any'
            '--operation' = 'any'
            '--of-operation' = 'any'
            '--label' = 'any'
            '--of-run' = 'any'
            '--since' = 'any'
            '--until' = 'any'
            '--pinned' = ''
            '--no-pinned' = ''
            '-n' = 'any'
            '--limit' = 'any'
            '--cursor' = 'any'
        }
        'artifact metadata' = [ordered]@{
            '--verify' = ''
            '--no-verify' = ''
        }
        'artifact read' = [ordered]@{
            '--offset' = 'any'
            '--limit' = 'any'
            '--lines' = 'any'
            '--head' = 'any'
            '--tail' = 'any'
            '-N' = ''
            '--number' = ''
            '--no-number' = ''
            '--encoding' = 'any'
            '--replace-invalid' = ''
            '--no-replace-invalid' = ''
        }
        'artifact range' = [ordered]@{
            '--offset' = 'any'
            '--limit' = 'any'
            '--encoding' = 'any'
        }
        'artifact search' = [ordered]@{
            '-E' = ''
            '--regex' = ''
            '--no-regex' = ''
            '-i' = ''
            '--ignore-case' = ''
            '--no-ignore-case' = ''
            '-w' = ''
            '--word' = ''
            '--no-word' = ''
            '--encoding' = 'any'
            '--offset' = 'any'
            '-n' = 'any'
            '--limit' = 'any'
            '--timeout-ms' = 'any'
            '--timeout' = 'any'
        }
        'artifact put' = [ordered]@{
            '--media-type' = 'any'
            '--encoding' = 'any'
            '--label' = 'any'
            '--pinned' = ''
            '--no-pinned' = ''
        }
        'artifact export' = [ordered]@{
            '--create-only' = ''
            '--no-create-only' = ''
            '--parents' = ''
            '--no-parents' = ''
            '--group' = 'any'
            '--dry-run' = ''
            '--no-dry-run' = ''
        }
        'artifact delete' = [ordered]@{
            '--pinned' = ''
            '--no-pinned' = ''
        }
        'artifact gc' = [ordered]@{
            '--days' = 'any'
            '--most-bytes' = 'any'
            '--most' = 'any'
            '--dry-run' = ''
            '--no-dry-run' = ''
        }
        'recipe suggest' = [ordered]@{
            '--threshold' = 'any'
            '--min-length' = 'any'
            '-n' = 'any'
            '--limit' = 'any'
            '--all' = ''
            '--no-all' = ''
        }
        'run arrivals' = [ordered]@{
            '--since' = 'any'
            '-n' = 'any'
            '--limit' = 'any'
        }
        'config show' = [ordered]@{
            '--origin' = ''
            '--no-origin' = ''
        }
        'config set' = [ordered]@{
            '--user' = ''
            '--no-user' = ''
            '--project' = ''
            '--no-project' = ''
        }
        'config unset' = [ordered]@{
            '--user' = ''
            '--no-user' = ''
            '--project' = ''
            '--no-project' = ''
        }
        'config roots' = [ordered]@{
            '--add' = 'any'
            '--remove' = 'any'
            '--read-only' = ''
            '--no-read-only' = ''
            '--user' = ''
            '--no-user' = ''
            '--project' = ''
            '--no-project' = ''
        }
        'config trust' = [ordered]@{
            '--revoke' = ''
            '--no-revoke' = ''
        }
        'config import' = [ordered]@{
            '--user' = ''
            '--no-user' = ''
            '--project' = ''
            '--no-project' = ''
        }
        'db query' = [ordered]@{
            '--param' = 'any'
            '--limit' = 'any'
            '--timeout-ms' = 'any'
            '--timeout' = 'any'
        }
        'db check' = [ordered]@{
            '--full' = ''
            '--no-full' = ''
        }
        'worker' = [ordered]@{
            '--idle-exit-ms' = 'any'
            '--idle-exit' = 'any'
            '--background' = ''
            '--no-background' = ''
        }
        'conversation list' = [ordered]@{
            '-n' = 'any'
            '--limit' = 'any'
            '--cursor' = 'any'
        }
        'gc' = [ordered]@{
            '--dry-run' = ''
            '--no-dry-run' = ''
        }
        'call' = [ordered]@{
            '--batch' = ''
            '--no-batch' = ''
            '--jobs' = 'any'
            '--ordered' = ''
            '--no-ordered' = ''
        }
        'serve' = [ordered]@{
            '--port' = 'any'
            '--host' = 'any'
            '--stdio' = ''
            '--no-stdio' = ''
            '--tools' = 'words:family,split'
            '--worker' = ''
            '--no-worker' = ''
        }
        'schema' = [ordered]@{
            '--exact' = ''
            '--no-exact' = ''
        }
        'demo' = [ordered]@{
            '--keep' = ''
            '--no-keep' = ''
        }
        'completion install' = [ordered]@{
            '--shell' = 'words:bash,zsh,fish,powershell'
        }
    }
    $globals = [ordered]@{
        '--json' = ''
        '--ndjson' = ''
        '-q' = ''
        '--quiet' = ''
        '--verbose' = ''
        '--data-dir' = 'directory'
        '--config' = 'path'
        '--root' = 'directory'
        '--run' = 'any'
        '--conversation' = 'any'
        '--no-color' = ''
        '-h' = ''
        '--help' = ''
    }

    $path = ''
    $behind = 0
    $taker = $null
    foreach ($element in $commandAst.CommandElements | Select-Object -Skip 1) {
        if ($element.Extent.EndOffset -ge $cursorPosition -and $wordToComplete -ne '') { break }
        $word = $element.Extent.Text
        if ($null -ne $taker) { $taker = $null; continue }
        if ($word.StartsWith('-')) {
            $takes = $globals[$word]
            if ($options[$path] -and $options[$path].Contains($word)) { $takes = $options[$path][$word] }
            if ($takes) { $taker = $takes }
            continue
        }
        $word = $word.Replace('_', '-')
        if ($commands[$path] -contains $word) { $path = "$path $word".Trim() } else { $behind++ }
    }

    $takes = $null
    if ($null -ne $taker) {
        $takes = $taker
    } elseif ($wordToComplete.StartsWith('-')) {
        $found = @($globals.Keys)
        if ($options[$path]) { $found = @($options[$path].Keys) + $found }
    } elseif ($commands[$path]) {
        $found = $commands[$path]
    } elseif ($arguments[$path]) {
        $last = @($arguments[$path]).Count - 1
        $takes = @($arguments[$path])[[Math]::Min($behind, $last)]
        if ($behind -gt $last -and -not $takes.EndsWith('+')) { $takes = 'any' }
        $takes = $takes.TrimEnd('+')
    }
    if ($takes) {
        $kind, $rest = $takes.Split(':', 2)
        # For paths nothing is answered, so that PowerShell completes them itself.
        $found = switch ($kind) {
            'words' { $rest.Split(',') }
            'id' { & hearth __complete $rest $wordToComplete 2>$null }
        }
    }
    $found | Where-Object { $_ -and $_.StartsWith($wordToComplete) } | ForEach-Object {
        [System.Management.Automation.CompletionResult]::new($_, $_, 'ParameterValue', $_)
    }
}
