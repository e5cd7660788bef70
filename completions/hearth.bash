# Completion of hearth in bash; `hearth completion show bash` makes it anew.

# What may follow the words $1.
_hearth_spec() {
    commands='' options='' valued='' arguments=''
    case $1 in
    '')
        commands='machine fs task artifact recipe run doctor config db worker conversation gc call serve operations schema demo completion'
        options='--version'
        ;;
    'machine')
        commands='exec batch which env host-info process-list process-kill process-wait'
        ;;
    'machine exec')
        options='--merged --no-merged'
        valued='--cwd --env --env-policy --stdin --stdin-from --timeout-ms --timeout --grace-ms --grace --cpu-seconds --memory-bytes --memory --encoding'
        arguments='any any+'
        ;;
    'machine batch')
        options='--fail-fast --no-fail-fast'
        arguments='any+'
        ;;
    'machine which')
        arguments='any+'
        ;;
    'machine env')
        options='--values --no-values'
        valued='--env-policy'
        arguments='any+'
        ;;
    'machine host-info')
        ;;
    'machine process-list')
        options='--ports --no-ports --tree --no-tree'
        valued='--pid --pids --name --user --port --sort --sample-ms --sample -n --limit'
        arguments='any'
        ;;
    'machine process-kill')
        options='--all --no-all --tree --no-tree --dry-run --no-dry-run'
        valued='--started-at --name --signal --grace-ms --grace'
        arguments='any'
        ;;
    'machine process-wait')
        valued='--started-at --port --host --address --until --timeout-ms --timeout'
        arguments='any'
        ;;
    'fs')
        commands='list find read search stat watch hash write patch mkdir move copy delete chmod undo redo diff history'
        ;;
    'fs list')
        options='--hidden --no-hidden --ignored --no-ignored --totals --no-totals'
        valued='-d --depth -g --glob --globs --kind --kinds -n --limit --cursor --timeout-ms --timeout'
        arguments='path'
        ;;
    'fs find')
        options='--hidden --no-hidden --ignored --no-ignored'
        valued='--in --path --regex --name-regex --kind --kinds --min-bytes --min --max-bytes --max --modified-after --modified-before -d --depth -n --limit --max-entries --timeout-ms --timeout'
        arguments='any+'
        ;;
    'fs read')
        options='-N --number --no-number --replace-invalid --no-replace-invalid --sha256 --no-sha256'
        valued='--offset --limit --lines --head --tail --encoding'
        arguments='path+'
        ;;
    'fs search')
        options='-E --regex --no-regex -i --ignore-case --no-ignore-case -w --word --no-word --hidden --no-hidden --ignored --no-ignored --binary --no-binary'
        valued='--in -C --context -g --glob --globs -t --type --types -m --max-count -n --limit --max-output-bytes --max-output --max-file-bytes --max-file --max-entries --timeout-ms --timeout'
        arguments='any path'
        ;;
    'fs stat')
        options='--follow --no-follow --sha256 --no-sha256'
        arguments='path'
        ;;
    'fs watch')
        options='--hidden --no-hidden --ignored --no-ignored'
        valued='-g --glob --globs -n --count --timeout-ms --timeout'
        arguments='path'
        ;;
    'fs hash')
        options='-r --recursive --no-recursive --hidden --no-hidden --ignored --no-ignored'
        valued='-g --glob --globs -n --limit --timeout-ms --timeout'
        arguments='path+'
        ;;
    'fs write')
        options='--bom --no-bom --append --no-append --create-only --no-create-only --parents --no-parents --permanent --no-permanent --dry-run --no-dry-run'
        valued='--data --from --from-file --encoding --line-ends --expected-sha256 --group'
        arguments='path'
        ;;
    'fs patch')
        options='--regex --no-regex --ignore-whitespace --no-ignore-whitespace --permanent --no-permanent --dry-run --no-dry-run'
        valued='--old --new --count --line-ends --replacements --insert --replace --delete --diff --fuzz --encoding --expected-sha256 --group'
        arguments='path'
        ;;
    'fs mkdir')
        options='-p --parents --no-parents --dry-run --no-dry-run'
        valued='--group'
        arguments='path'
        ;;
    'fs move')
        options='--overwrite --no-overwrite --parents --no-parents --dry-run --no-dry-run'
        valued='--group'
        arguments='path path'
        ;;
    'fs copy')
        options='-r --recursive --no-recursive --follow --no-follow --overwrite --no-overwrite --parents --no-parents --dry-run --no-dry-run'
        valued='--group'
        arguments='path path'
        ;;
    'fs delete')
        options='-r --recursive --no-recursive --permanent --no-permanent --dry-run --no-dry-run'
        valued='--expected-sha256 --group'
        arguments='path'
        ;;
    'fs chmod')
        options='--dry-run --no-dry-run'
        valued='--group'
        arguments='any path'
        ;;
    'fs undo')
        options='--last --no-last --dry-run --no-dry-run'
        valued='--group'
        arguments='id:receipt'
        ;;
    'fs redo')
        options='--last --no-last --dry-run --no-dry-run'
        valued='--group'
        arguments='id:receipt'
        ;;
    'fs diff')
        valued='--max-bytes --max'
        arguments='id:receipt'
        ;;
    'fs history')
        valued='--since --until --caller --group -n --limit --cursor'
        arguments='path'
        ;;
    'task')
        commands='submit get list wait cancel retry status logs send groups group pause resume stats workers schedule schedules unschedule enable disable next prune'
        ;;
    'task submit')
        options='--open-stdin --no-open-stdin --merge --no-merge --restart --no-restart --allow-missing --no-allow-missing --start --no-start --wait --no-wait -f --follow --no-follow --exit-code --no-exit-code'
        valued='--cwd --env --env-policy --stdin --timeout-ms --timeout --grace-ms --grace --cpu-seconds --memory-bytes --memory --priority --group --label --labels --retry --delay-ms --delay --run-at --expires-at --after --dependencies --idempotency-key --id --jobs --file --wait-timeout-ms --wait-timeout'
        arguments='any any+'
        ;;
    'task get')
        arguments='id:job'
        ;;
    'task list')
        options='--unfinished --no-unfinished'
        valued='--job-state --states --group --label --labels --text --since --until --schedule -n --limit --cursor'
        ;;
    'task wait')
        options='--any --no-any --exit-code --no-exit-code'
        valued='--group --label --labels --until --until-state --timeout-ms --timeout'
        arguments='id:job+'
        ;;
    'task cancel')
        options='--wait --no-wait'
        valued='--group --label --labels --grace-ms --grace'
        arguments='id:job+'
        ;;
    'task retry')
        options='--all-failed --no-all-failed --dependents --no-dependents --start --no-start'
        valued='--group --label --labels'
        arguments='id:job+'
        ;;
    'task status')
        arguments='id:job'
        ;;
    'task logs')
        options='-f --follow --no-follow --exit-code --no-exit-code'
        valued='--stream --attempt --offset --limit --lines --head --tail --encoding --wait-timeout-ms --wait-timeout'
        arguments='id:job'
        ;;
    'task send')
        options='--newline --no-newline --eof --no-eof'
        valued='--wait-timeout-ms --wait-timeout'
        arguments='id:job any'
        ;;
    'task groups')
        valued='-n --limit --cursor'
        ;;
    'task group')
        options='--default --no-default'
        valued='--parallel'
        arguments='id:group'
        ;;
    'task pause')
        options='--all --no-all'
        arguments='id:group+'
        ;;
    'task resume')
        options='--all --no-all'
        arguments='id:group+'
        ;;
    'task stats')
        valued='--since -l --last-ms --last'
        ;;
    'task workers')
        ;;
    'task schedule')
        options='--open-stdin --no-open-stdin --merge --no-merge --restart --no-restart --replace --no-replace --start --no-start'
        valued='--cwd --env --env-policy --stdin --timeout-ms --timeout --grace-ms --grace --cpu-seconds --memory-bytes --memory --priority --group --label --labels --retry --cron --every-ms --every --zone --missed --missed-most --overlap'
        arguments='id:schedule any any+'
        ;;
    'task schedules')
        valued='-n --limit --cursor'
        arguments='id:schedule+'
        ;;
    'task unschedule')
        arguments='id:schedule+'
        ;;
    'task enable')
        options='--start --no-start'
        arguments='id:schedule+'
        ;;
    'task disable')
        arguments='id:schedule+'
        ;;
    'task next')
        valued='--cron --every-ms --every --zone -n --limit'
        arguments='id:schedule'
        ;;
    'task prune')
        options='--all --no-all --dry-run --no-dry-run'
        valued='--job-state --states --group --older-than-ms --older-than --keep'
        arguments='id:job+'
        ;;
    'artifact')
        commands='list metadata read range search put export pin unpin delete gc'
        ;;
    'artifact list')
        options='--pinned --no-pinned'
        valued='--media-type --operation --of-operation --label --of-run --since --until -n --limit --cursor'
        ;;
    'artifact metadata')
        options='--verify --no-verify'
        arguments='id:artifact'
        ;;
    'artifact read')
        options='-N --number --no-number --replace-invalid --no-replace-invalid'
        valued='--offset --limit --lines --head --tail --encoding'
        arguments='id:artifact'
        ;;
    'artifact range')
        valued='--offset --limit --encoding'
        arguments='id:artifact'
        ;;
    'artifact search')
        options='-E --regex --no-regex -i --ignore-case --no-ignore-case -w --word --no-word'
        valued='--encoding --offset -n --limit --timeout-ms --timeout'
        arguments='id:artifact any'
        ;;
    'artifact put')
        options='--pinned --no-pinned'
        valued='--media-type --encoding --label'
        arguments='path'
        ;;
    'artifact export')
        options='--create-only --no-create-only --parents --no-parents --dry-run --no-dry-run'
        valued='--group'
        arguments='id:artifact path'
        ;;
    'artifact pin')
        arguments='id:artifact+'
        ;;
    'artifact unpin')
        arguments='id:artifact+'
        ;;
    'artifact delete')
        options='--pinned --no-pinned'
        arguments='id:artifact+'
        ;;
    'artifact gc')
        options='--dry-run --no-dry-run'
        valued='--days --most-bytes --most'
        ;;
    'recipe')
        commands='suggest'
        ;;
    'recipe suggest')
        options='--all --no-all'
        valued='--threshold --min-length -n --limit'
        ;;
    'run')
        commands='arrivals'
        ;;
    'run arrivals')
        valued='--since -n --limit'
        ;;
    'doctor')
        ;;
    'config')
        commands='show get set unset roots path check trust import'
        ;;
    'config show')
        options='--origin --no-origin'
        ;;
    'config get')
        arguments='words:data_dir,roots,log,max_output_bytes,artifact_preview_bytes,max_artifact_bytes,command_timeout_ms,max_concurrent_futures,future_input_max_bytes,recipe_max_steps,isolation,oracle.command,oracle.armed,machine.env_allow,fs.sync,fs.hard_links,fs.lock_timeout_ms,fs.backup_max_bytes,secrets.on_persist,retention.events_days,retention.events_max,retention.receipts_days,retention.backups_max_bytes,retention.artifacts_days,retention.artifacts_max_bytes,retention.jobs_days,retention.jobs_max,retention.mailbox_days,worker.idle_exit_s,worker.parallel,worker.output_max_bytes,serve.host,serve.port,serve.tools,serve.wait_ms,serve.answer_max_bytes,serve.lane,serve.shutdown_grace_s,serve.origins,serve.max_body_bytes,serve.max_connections,serve.request_timeout_s'
        ;;
    'config set')
        options='--user --no-user --project --no-project'
        arguments='words:data_dir,roots,log,max_output_bytes,artifact_preview_bytes,max_artifact_bytes,command_timeout_ms,max_concurrent_futures,future_input_max_bytes,recipe_max_steps,isolation,oracle.command,oracle.armed,machine.env_allow,fs.sync,fs.hard_links,fs.lock_timeout_ms,fs.backup_max_bytes,secrets.on_persist,retention.events_days,retention.events_max,retention.receipts_days,retention.backups_max_bytes,retention.artifacts_days,retention.artifacts_max_bytes,retention.jobs_days,retention.jobs_max,retention.mailbox_days,worker.idle_exit_s,worker.parallel,worker.output_max_bytes,serve.host,serve.port,serve.tools,serve.wait_ms,serve.answer_max_bytes,serve.lane,serve.shutdown_grace_s,serve.origins,serve.max_body_bytes,serve.max_connections,serve.request_timeout_s any'
        ;;
    'config unset')
        options='--user --no-user --project --no-project'
        arguments='words:data_dir,roots,log,max_output_bytes,artifact_preview_bytes,max_artifact_bytes,command_timeout_ms,max_concurrent_futures,future_input_max_bytes,recipe_max_steps,isolation,oracle.command,oracle.armed,machine.env_allow,fs.sync,fs.hard_links,fs.lock_timeout_ms,fs.backup_max_bytes,secrets.on_persist,retention.events_days,retention.events_max,retention.receipts_days,retention.backups_max_bytes,retention.artifacts_days,retention.artifacts_max_bytes,retention.jobs_days,retention.jobs_max,retention.mailbox_days,worker.idle_exit_s,worker.parallel,worker.output_max_bytes,serve.host,serve.port,serve.tools,serve.wait_ms,serve.answer_max_bytes,serve.lane,serve.shutdown_grace_s,serve.origins,serve.max_body_bytes,serve.max_connections,serve.request_timeout_s'
        ;;
    'config roots')
        options='--read-only --no-read-only --user --no-user --project --no-project'
        valued='--add --remove'
        ;;
    'config path')
        ;;
    'config check')
        ;;
    'config trust')
        options='--revoke --no-revoke'
        arguments='path'
        ;;
    'config import')
        options='--user --no-user --project --no-project'
        arguments='path'
        ;;
    'db')
        commands='path tables schema query backup vacuum check'
        ;;
    'db path')
        ;;
    'db tables')
        ;;
    'db schema')
        arguments='any'
        ;;
    'db query')
        valued='--param --limit --timeout-ms --timeout'
        arguments='any'
        ;;
    'db backup')
        arguments='path'
        ;;
    'db vacuum')
        ;;
    'db check')
        options='--full --no-full'
        ;;
    'worker')
        options='--background --no-background'
        valued='--idle-exit-ms --idle-exit'
        ;;
    'conversation')
        commands='list'
        ;;
    'conversation list')
        valued='-n --limit --cursor'
        ;;
    'gc')
        options='--dry-run --no-dry-run'
        ;;
    'call')
        options='--batch --no-batch --ordered --no-ordered'
        valued='--jobs'
        arguments='words:machine.exec,machine.batch,machine.which,machine.env,machine.host_info,machine.process_list,machine.process_kill,machine.process_wait,fs.list,fs.find,fs.read,fs.search,fs.stat,fs.watch,fs.hash,fs.write,fs.patch,fs.mkdir,fs.move,fs.copy,fs.delete,fs.chmod,fs.undo,fs.redo,fs.diff,fs.history,task.submit,task.get,task.list,task.wait,task.cancel,task.retry,task.status,task.logs,task.send,task.groups,task.group,task.pause,task.resume,task.stats,task.workers,task.schedule,task.schedules,task.unschedule,task.enable,task.disable,task.next,task.prune,artifact.list,artifact.metadata,artifact.read,artifact.range,artifact.search,artifact.put,artifact.export,artifact.pin,artifact.unpin,artifact.delete,artifact.gc,recipe.suggest,run.arrivals,self.doctor,self.config_show,self.config_get,self.config_set,self.config_unset,self.config_roots,self.config_path,self.config_check,self.config_trust,self.config_import,self.db_path,self.db_tables,self.db_schema,self.db_query,self.db_backup,self.db_vacuum,self.db_check,self.worker,self.conversation_list,self.gc any'
        ;;
    'serve')
        options='--stdio --no-stdio --worker --no-worker'
        valued='--port --host --tools'
        ;;
    'operations')
        arguments='words:machine,fs,task,artifact,recipe,run,self'
        ;;
    'schema')
        options='--exact --no-exact'
        arguments='words:machine.exec,machine.batch,machine.which,machine.env,machine.host_info,machine.process_list,machine.process_kill,machine.process_wait,fs.list,fs.find,fs.read,fs.search,fs.stat,fs.watch,fs.hash,fs.write,fs.patch,fs.mkdir,fs.move,fs.copy,fs.delete,fs.chmod,fs.undo,fs.redo,fs.diff,fs.history,task.submit,task.get,task.list,task.wait,task.cancel,task.retry,task.status,task.logs,task.send,task.groups,task.group,task.pause,task.resume,task.stats,task.workers,task.schedule,task.schedules,task.unschedule,task.enable,task.disable,task.next,task.prune,artifact.list,artifact.metadata,artifact.read,artifact.range,artifact.search,artifact.put,artifact.export,artifact.pin,artifact.unpin,artifact.delete,artifact.gc,recipe.suggest,run.arrivals,self.doctor,self.config_show,self.config_get,self.config_set,self.config_unset,self.config_roots,self.config_path,self.config_check,self.config_trust,self.config_import,self.db_path,self.db_tables,self.db_schema,self.db_query,self.db_backup,self.db_vacuum,self.db_check,self.worker,self.conversation_list,self.gc'
        ;;
    'demo')
        options='--keep --no-keep'
        ;;
    'completion')
        commands='show install'
        ;;
    'completion show')
        arguments='words:bash,zsh,fish,powershell'
        ;;
    'completion install')
        valued='--shell'
        ;;
    esac
}

# What the option $2 behind the words $1 takes.
_hearth_value() {
    value=any
    case "$1 $2" in
    'machine exec --cwd') value='path' ;;
    'machine exec --env-policy') value='words:inherit,minimal,explicit' ;;
    'machine exec --stdin-from') value='path' ;;
    'machine env --env-policy') value='words:inherit,minimal,explicit' ;;
    'machine process-list --sort') value='words:pid,name,user,cpu,memory,started' ;;
    'machine process-kill --signal') value='words:term,kill,int,hup,quit,usr1,usr2,stop,cont' ;;
    'machine process-wait --until') value='words:listens,closes' ;;
    'fs list --kind' | 'fs list --kinds') value='words:file,directory,link,fifo,socket,device' ;;
    'fs find --in' | 'fs find --path') value='path' ;;
    'fs find --kind' | 'fs find --kinds') value='words:file,directory,link,fifo,socket,device' ;;
    'fs search --in') value='words:content,name' ;;
    'fs write --from' | 'fs write --from-file') value='path' ;;
    'fs write --line-ends') value='words:lf,crlf' ;;
    'fs patch --line-ends') value='words:file,given' ;;
    'fs history --caller') value='words:shell,batch,mcp,recipe' ;;
    'task submit --cwd') value='path' ;;
    'task submit --env-policy') value='words:inherit,minimal,explicit' ;;
    'task submit --file') value='path' ;;
    'task list --job-state' | 'task list --states') value='words:scheduled,queued,waiting,running,completed,failed,timed_out,cancelled,blocked,expired,lost' ;;
    'task list --schedule') value='id:schedule' ;;
    'task wait --until' | 'task wait --until-state') value='words:ended,started,completed,failed,timed_out,cancelled,blocked,expired,lost' ;;
    'task logs --stream') value='words:stdout,stderr,both,merged' ;;
    'task schedule --cwd') value='path' ;;
    'task schedule --env-policy') value='words:inherit,minimal,explicit' ;;
    'task schedule --missed') value='words:skip,once,all' ;;
    'task schedule --overlap') value='words:skip,queue' ;;
    'task prune --job-state' | 'task prune --states') value='words:scheduled,queued,waiting,running,completed,failed,timed_out,cancelled,blocked,expired,lost' ;;
    'serve --tools') value='words:family,split' ;;
    'completion install --shell') value='words:bash,zsh,fish,powershell' ;;
    *' --data-dir') value='directory' ;;
    *' --config') value='path' ;;
    *' --root') value='directory' ;;
    esac
}

_hearth_reply() {
    local kind=${1%%:*} rest=${1#*:}
    case $kind in
    path)
        compopt -o filenames 2>/dev/null
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$cur")
        ;;
    directory)
        compopt -o filenames 2>/dev/null
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -d -- "$cur")
        ;;
    words) COMPREPLY+=($(compgen -W "${rest//,/ }" -- "$cur")) ;;
    id) COMPREPLY+=($(hearth __complete "$rest" "$cur" 2>/dev/null)) ;;
    esac
}

_hearth() {
    local cur=${COMP_WORDS[COMP_CWORD]} path='' word='' option='' skip='' ended='' i
    local commands options valued arguments value
    local -i count=0
    COMPREPLY=()
    _hearth_spec "$path"
    for ((i = 1; i < COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if [[ $word == = ]]; then continue; fi
        if [[ $skip ]]; then skip='' option=''; continue; fi
        if [[ ! $ended && $word == -- ]]; then ended=1; continue; fi
        if [[ ! $ended && $word == -* ]]; then
            if [[ " $valued --data-dir --config --root --run --conversation " == *" $word "* ]]; then skip=1 option=$word; fi
            continue
        fi
        word=${word//_/-}
        if [[ " $commands " == *" $word "* ]]; then
            path=${path:+$path }$word
            _hearth_spec "$path"
        else
            count+=1
        fi
    done
    if [[ $cur == = ]]; then cur=''; fi
    if [[ $skip ]]; then
        _hearth_value "$path" "$option"
        _hearth_reply "$value"
    elif [[ ! $ended && $cur == -* ]]; then
        COMPREPLY=($(compgen -W "$options $valued --json --ndjson -q --quiet --verbose --no-color -h --help --data-dir --config --root --run --conversation" -- "$cur"))
    elif [[ $commands ]]; then
        COMPREPLY=($(compgen -W "$commands" -- "$cur"))
    else
        set -- $arguments
        while ((count > 0 && $# > 1)); do shift; count+=-1; done
        value=${1:-any}
        if [[ $value == *+ ]]; then value=${value%+}; elif ((count > 0)); then value=any; fi
        _hearth_reply "$value"
    fi
}

complete -F _hearth hearth
