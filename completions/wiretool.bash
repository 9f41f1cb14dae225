_wiretool() {
    local i cur prev opts cmd
    COMPREPLY=()
    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
        cur="$2"
    else
        cur="${COMP_WORDS[COMP_CWORD]}"
    fi
    prev="$3"
    cmd=""
    opts=""

    for i in "${COMP_WORDS[@]:0:COMP_CWORD}"
    do
        case "${cmd},${i}" in
            ",$1")
                cmd="wiretool"
                ;;
            wiretool,completions)
                cmd="wiretool__subcmd__completions"
                ;;
            wiretool,config)
                cmd="wiretool__subcmd__config"
                ;;
            wiretool,decode)
                cmd="wiretool__subcmd__decode"
                ;;
            wiretool,demo)
                cmd="wiretool__subcmd__demo"
                ;;
            wiretool,diff)
                cmd="wiretool__subcmd__diff"
                ;;
            wiretool,encode)
                cmd="wiretool__subcmd__encode"
                ;;
            wiretool,export)
                cmd="wiretool__subcmd__export"
                ;;
            wiretool,help)
                cmd="wiretool__subcmd__help"
                ;;
            wiretool,lint)
                cmd="wiretool__subcmd__lint"
                ;;
            wiretool,make)
                cmd="wiretool__subcmd__make"
                ;;
            wiretool,man)
                cmd="wiretool__subcmd__man"
                ;;
            wiretool,mcp)
                cmd="wiretool__subcmd__mcp"
                ;;
            wiretool,oracle)
                cmd="wiretool__subcmd__oracle"
                ;;
            wiretool,protocol)
                cmd="wiretool__subcmd__protocol"
                ;;
            wiretool,proxy)
                cmd="wiretool__subcmd__proxy"
                ;;
            wiretool,record)
                cmd="wiretool__subcmd__record"
                ;;
            wiretool,redact)
                cmd="wiretool__subcmd__redact"
                ;;
            wiretool,replay)
                cmd="wiretool__subcmd__replay"
                ;;
            wiretool,sael)
                cmd="wiretool__subcmd__sael"
                ;;
            wiretool,send)
                cmd="wiretool__subcmd__send"
                ;;
            wiretool,shrink)
                cmd="wiretool__subcmd__shrink"
                ;;
            wiretool,snapshot)
                cmd="wiretool__subcmd__snapshot"
                ;;
            wiretool,stat)
                cmd="wiretool__subcmd__stat"
                ;;
            wiretool,stub)
                cmd="wiretool__subcmd__stub"
                ;;
            wiretool,telequick)
                cmd="wiretool__subcmd__telequick"
                ;;
            wiretool,test)
                cmd="wiretool__subcmd__test"
                ;;
            wiretool,unwrap)
                cmd="wiretool__subcmd__unwrap"
                ;;
            wiretool,watch)
                cmd="wiretool__subcmd__watch"
                ;;
            wiretool,wrap)
                cmd="wiretool__subcmd__wrap"
                ;;
            wiretool__subcmd__config,show)
                cmd="wiretool__subcmd__config__subcmd__show"
                ;;
            wiretool__subcmd__help,agents)
                cmd="wiretool__subcmd__help__subcmd__agents"
                ;;
            wiretool__subcmd__help,ci)
                cmd="wiretool__subcmd__help__subcmd__ci"
                ;;
            wiretool__subcmd__help,clients)
                cmd="wiretool__subcmd__help__subcmd__clients"
                ;;
            wiretool__subcmd__help,completions)
                cmd="wiretool__subcmd__help__subcmd__completions"
                ;;
            wiretool__subcmd__help,config)
                cmd="wiretool__subcmd__help__subcmd__config"
                ;;
            wiretool__subcmd__help,decode)
                cmd="wiretool__subcmd__help__subcmd__decode"
                ;;
            wiretool__subcmd__help,demo)
                cmd="wiretool__subcmd__help__subcmd__demo"
                ;;
            wiretool__subcmd__help,describe)
                cmd="wiretool__subcmd__help__subcmd__describe"
                ;;
            wiretool__subcmd__help,diff)
                cmd="wiretool__subcmd__help__subcmd__diff"
                ;;
            wiretool__subcmd__help,encode)
                cmd="wiretool__subcmd__help__subcmd__encode"
                ;;
            wiretool__subcmd__help,exit)
                cmd="wiretool__subcmd__help__subcmd__exit"
                ;;
            wiretool__subcmd__help,export)
                cmd="wiretool__subcmd__help__subcmd__export"
                ;;
            wiretool__subcmd__help,faults)
                cmd="wiretool__subcmd__help__subcmd__faults"
                ;;
            wiretool__subcmd__help,help)
                cmd="wiretool__subcmd__help__subcmd__help"
                ;;
            wiretool__subcmd__help,inputs)
                cmd="wiretool__subcmd__help__subcmd__inputs"
                ;;
            wiretool__subcmd__help,json)
                cmd="wiretool__subcmd__help__subcmd__json"
                ;;
            wiretool__subcmd__help,limits)
                cmd="wiretool__subcmd__help__subcmd__limits"
                ;;
            wiretool__subcmd__help,lines)
                cmd="wiretool__subcmd__help__subcmd__lines"
                ;;
            wiretool__subcmd__help,lint)
                cmd="wiretool__subcmd__help__subcmd__lint"
                ;;
            wiretool__subcmd__help,live)
                cmd="wiretool__subcmd__help__subcmd__live"
                ;;
            wiretool__subcmd__help,make)
                cmd="wiretool__subcmd__help__subcmd__make"
                ;;
            wiretool__subcmd__help,man)
                cmd="wiretool__subcmd__help__subcmd__man"
                ;;
            wiretool__subcmd__help,mcp)
                cmd="wiretool__subcmd__help__subcmd__mcp"
                ;;
            wiretool__subcmd__help,operations)
                cmd="wiretool__subcmd__help__subcmd__operations"
                ;;
            wiretool__subcmd__help,oracle)
                cmd="wiretool__subcmd__help__subcmd__oracle"
                ;;
            wiretool__subcmd__help,protocol)
                cmd="wiretool__subcmd__help__subcmd__protocol"
                ;;
            wiretool__subcmd__help,protocols)
                cmd="wiretool__subcmd__help__subcmd__protocols"
                ;;
            wiretool__subcmd__help,proxy)
                cmd="wiretool__subcmd__help__subcmd__proxy"
                ;;
            wiretool__subcmd__help,record)
                cmd="wiretool__subcmd__help__subcmd__record"
                ;;
            wiretool__subcmd__help,recording)
                cmd="wiretool__subcmd__help__subcmd__recording"
                ;;
            wiretool__subcmd__help,redact)
                cmd="wiretool__subcmd__help__subcmd__redact"
                ;;
            wiretool__subcmd__help,replay)
                cmd="wiretool__subcmd__help__subcmd__replay"
                ;;
            wiretool__subcmd__help,rules)
                cmd="wiretool__subcmd__help__subcmd__rules"
                ;;
            wiretool__subcmd__help,sael)
                cmd="wiretool__subcmd__help__subcmd__sael"
                ;;
            wiretool__subcmd__help,scale)
                cmd="wiretool__subcmd__help__subcmd__scale"
                ;;
            wiretool__subcmd__help,scripts)
                cmd="wiretool__subcmd__help__subcmd__scripts"
                ;;
            wiretool__subcmd__help,send)
                cmd="wiretool__subcmd__help__subcmd__send"
                ;;
            wiretool__subcmd__help,shrink)
                cmd="wiretool__subcmd__help__subcmd__shrink"
                ;;
            wiretool__subcmd__help,snapshot)
                cmd="wiretool__subcmd__help__subcmd__snapshot"
                ;;
            wiretool__subcmd__help,stat)
                cmd="wiretool__subcmd__help__subcmd__stat"
                ;;
            wiretool__subcmd__help,stub)
                cmd="wiretool__subcmd__help__subcmd__stub"
                ;;
            wiretool__subcmd__help,telequick)
                cmd="wiretool__subcmd__help__subcmd__telequick"
                ;;
            wiretool__subcmd__help,test)
                cmd="wiretool__subcmd__help__subcmd__test"
                ;;
            wiretool__subcmd__help,unwrap)
                cmd="wiretool__subcmd__help__subcmd__unwrap"
                ;;
            wiretool__subcmd__help,watch)
                cmd="wiretool__subcmd__help__subcmd__watch"
                ;;
            wiretool__subcmd__help,where)
                cmd="wiretool__subcmd__help__subcmd__where"
                ;;
            wiretool__subcmd__help,words)
                cmd="wiretool__subcmd__help__subcmd__words"
                ;;
            wiretool__subcmd__help,wrap)
                cmd="wiretool__subcmd__help__subcmd__wrap"
                ;;
            wiretool__subcmd__mcp,serve)
                cmd="wiretool__subcmd__mcp__subcmd__serve"
                ;;
            wiretool__subcmd__oracle,felt)
                cmd="wiretool__subcmd__oracle__subcmd__felt"
                ;;
            wiretool__subcmd__oracle,split)
                cmd="wiretool__subcmd__oracle__subcmd__split"
                ;;
            wiretool__subcmd__oracle__subcmd__felt,decode)
                cmd="wiretool__subcmd__oracle__subcmd__felt__subcmd__decode"
                ;;
            wiretool__subcmd__oracle__subcmd__felt,encode)
                cmd="wiretool__subcmd__oracle__subcmd__felt__subcmd__encode"
                ;;
            wiretool__subcmd__protocol,check)
                cmd="wiretool__subcmd__protocol__subcmd__check"
                ;;
            wiretool__subcmd__protocol,draft)
                cmd="wiretool__subcmd__protocol__subcmd__draft"
                ;;
            wiretool__subcmd__protocol,show)
                cmd="wiretool__subcmd__protocol__subcmd__show"
                ;;
            wiretool__subcmd__sael,filter)
                cmd="wiretool__subcmd__sael__subcmd__filter"
                ;;
            wiretool__subcmd__sael,token)
                cmd="wiretool__subcmd__sael__subcmd__token"
                ;;
            wiretool__subcmd__sael__subcmd__token,allows)
                cmd="wiretool__subcmd__sael__subcmd__token__subcmd__allows"
                ;;
            wiretool__subcmd__sael__subcmd__token,inspect)
                cmd="wiretool__subcmd__sael__subcmd__token__subcmd__inspect"
                ;;
            wiretool__subcmd__sael__subcmd__token,mint)
                cmd="wiretool__subcmd__sael__subcmd__token__subcmd__mint"
                ;;
            wiretool__subcmd__sael__subcmd__token,verify)
                cmd="wiretool__subcmd__sael__subcmd__token__subcmd__verify"
                ;;
            wiretool__subcmd__snapshot,accept)
                cmd="wiretool__subcmd__snapshot__subcmd__accept"
                ;;
            wiretool__subcmd__snapshot,list)
                cmd="wiretool__subcmd__snapshot__subcmd__list"
                ;;
            wiretool__subcmd__snapshot,reject)
                cmd="wiretool__subcmd__snapshot__subcmd__reject"
                ;;
            wiretool__subcmd__snapshot,review)
                cmd="wiretool__subcmd__snapshot__subcmd__review"
                ;;
            wiretool__subcmd__snapshot,test)
                cmd="wiretool__subcmd__snapshot__subcmd__test"
                ;;
            wiretool__subcmd__telequick,audio)
                cmd="wiretool__subcmd__telequick__subcmd__audio"
                ;;
            wiretool__subcmd__telequick,schema)
                cmd="wiretool__subcmd__telequick__subcmd__schema"
                ;;
            wiretool__subcmd__telequick__subcmd__schema,check)
                cmd="wiretool__subcmd__telequick__subcmd__schema__subcmd__check"
                ;;
            wiretool__subcmd__telequick__subcmd__schema,format)
                cmd="wiretool__subcmd__telequick__subcmd__schema__subcmd__format"
                ;;
            wiretool__subcmd__telequick__subcmd__schema,id)
                cmd="wiretool__subcmd__telequick__subcmd__schema__subcmd__id"
                ;;
            wiretool__subcmd__telequick__subcmd__schema,show)
                cmd="wiretool__subcmd__telequick__subcmd__schema__subcmd__show"
                ;;
            *)
                ;;
        esac
    done

    case "${cmd}" in
        wiretool)
            opts="-q -v -h -V --color --quiet --verbose --config --help --version decode lint stat watch diff export encode make proxy record redact replay send shrink stub snapshot test demo wrap unwrap protocol telequick oracle sael mcp config completions man help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 1 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__completions)
            opts="-q -v -h --color --quiet --verbose --config --help bash elvish fish powershell zsh"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__config)
            opts="-q -v -h --color --quiet --verbose --config --help show"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__config__subcmd__show)
            opts="-f -q -v -h --origin --format --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --format)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__decode)
            opts="-p -A -B -C -f -o -w -q -v -h --from --dir --c2s --s2c --follow --merge --clock --jobs --part-size --port --reassembly-limit --protocol --framing --length-mode --schema --struct --signature --max-message --max-depth --no-resync --kind --id --subject --grep --ignore-case --skip --head --tail --after-context --before-context --context --pair --where --dialect --allow --deny --secret-file --max-open --lint --fail-on --format --exact --flat --verify --output --write --show-secrets --stderr --ops --state --at --path --print-schema --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --from)
                    COMPREPLY=($(compgen -W "auto raw hex xxd base64 jsonl text dump literal log recording pcap har page strace curl socat ngrep tcpflow tcpdump tshark" -- "${cur}"))
                    return 0
                    ;;
                --dir)
                    COMPREPLY=($(compgen -W "c2s s2c" -- "${cur}"))
                    return 0
                    ;;
                --c2s)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --s2c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --clock)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --part-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --reassembly-limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --protocol)
                    COMPREPLY=($(compgen -W "saikuro oracle sael stepflow telequick mcp lsp acp jsonrpc dap cdp nvim i3" -- "${cur}"))
                    return 0
                    ;;
                -p)
                    COMPREPLY=($(compgen -W "saikuro oracle sael stepflow telequick mcp lsp acp jsonrpc dap cdp nvim i3" -- "${cur}"))
                    return 0
                    ;;
                --framing)
                    COMPREPLY=($(compgen -W "auto lines prefix method bare content-length websocket http http3 values header message fields" -- "${cur}"))
                    return 0
                    ;;
                --length-mode)
                    COMPREPLY=($(compgen -W "auto exclusive inclusive" -- "${cur}"))
                    return 0
                    ;;
                --schema)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --struct)
                    COMPREPLY=($(compgen -W "AbortBulkRequest AllocateWtRequest AllocateWtResponse AnswerIncomingCallRequest AnswerIncomingCallResponse AudioFrame BargeRequest BucketActionRequest BucketActionResponse BucketCallList BucketInfo BucketRequest BulkRequest BulkResponse CallEvent Empty EventStreamRequest ExecuteDialplanRequest ExecuteDialplanResponse GetIncomingCallsRequest GetIncomingCallsResponse IncomingCallInfo ListBucketsResponse OriginateRequest OriginateResponse SetInboundRoutingRequest SuperviseSubscribeRequest SuperviseSubscribeResponse TerminateRequest TerminateResponse" -- "${cur}"))
                    return 0
                    ;;
                --signature)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-message)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --kind)
                    COMPREPLY=($(compgen -W "ACK AbortBulkRequest AllocateWtRequest AllocateWtResponse AnswerIncomingCallRequest AnswerIncomingCallResponse AudioFrame BYE BargeRequest BucketActionRequest BucketActionResponse BucketCallList BucketRequest BulkRequest BulkResponse CAN CallEvent END ERR EVT Empty EventStreamRequest ExecuteDialplanRequest ExecuteDialplanResponse GetIncomingCallsRequest GetIncomingCallsResponse HBA HBT HEY INV LST ListBucketsResponse OriginateRequest OriginateResponse RES RSM STR SUB SetInboundRoutingRequest SuperviseSubscribeRequest SuperviseSubscribeResponse TerminateRequest TerminateResponse UNS WIN abort ack announce announce_ack batch batch-response blank-line call cast channel close end error event http-request http-response invoke item log notification pause port ready request resource response result resume shutdown sse-event stream stream-error unknown" -- "${cur}"))
                    return 0
                    ;;
                --id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --subject)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --grep)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --skip)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --head)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tail)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --after-context)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -A)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --before-context)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -B)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --context)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -C)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --where)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dialect)
                    COMPREPLY=($(compgen -W "document peers both" -- "${cur}"))
                    return 0
                    ;;
                --allow)
                    COMPREPLY=($(compgen -W "acp/answered-twice acp/batch acp/before-initialize acp/blank-line acp/call-failed acp/cancel-ignored acp/cancel-unknown acp/cancelled-unanswered acp/capability-missing acp/connection-missing acp/duplicate-id acp/duplicate-key acp/error-shape acp/id-fraction acp/id-range acp/id-type acp/id-type-changed acp/line-zero acp/malformed acp/method-type acp/missing-id acp/missing-param acp/not-a-message acp/not-json acp/notification-with-id acp/null-beside acp/null-id acp/open-limit acp/orphan acp/param-type acp/params-shape acp/permission-after-cancel acp/prompt-in-turn acp/refused acp/relative-path acp/request-without-id acp/result-and-error acp/result-beside-method acp/result-type acp/second-initialize acp/session-closed acp/session-ended acp/status-back acp/subprotocol-not-offered acp/terminal-released acp/tool-call-again acp/tool-call-running acp/unanswered acp/unknown-method acp/unknown-mode acp/unknown-option acp/unknown-session acp/unknown-terminal acp/unknown-tool-call acp/unknown-update acp/unknown-version acp/update-outside-turn acp/upgrade-refused acp/upgrade-unanswered acp/version acp/version-raised acp/wrong-direction cdp/answered-twice cdp/call-failed cdp/id-reused cdp/malformed cdp/no-match cdp/not-checked cdp/open-limit cdp/orphan cdp/subprotocol-not-offered cdp/unanswered cdp/upgrade-refused cdp/upgrade-unanswered cdp/wrong-direction cdp/wrong-type dap/after-terminated dap/answered-twice dap/call-failed dap/configuration-done-early dap/debugging-not-announced dap/id-reused dap/initialize-first dap/initialize-once dap/malformed dap/no-match dap/not-checked dap/open-limit dap/orphan dap/other-command dap/reverse-not-announced dap/reverse-wrong-side dap/seq-order dap/subprotocol-not-offered dap/unanswered dap/upgrade-refused dap/upgrade-unanswered dap/wrong-direction dap/wrong-side dap/wrong-type i3/answered-twice i3/call-failed i3/id-reused i3/malformed i3/no-match i3/not-checked i3/open-limit i3/orphan i3/subprotocol-not-offered i3/unanswered i3/upgrade-refused i3/upgrade-unanswered i3/wrong-direction i3/wrong-type jsonrpc/answered-twice jsonrpc/batch-answer jsonrpc/batch-empty jsonrpc/batch-member jsonrpc/blank-line jsonrpc/call-failed jsonrpc/duplicate-id jsonrpc/duplicate-key jsonrpc/error-shape jsonrpc/id-fraction jsonrpc/id-range jsonrpc/id-type jsonrpc/id-type-changed jsonrpc/malformed jsonrpc/method-type jsonrpc/missing-id jsonrpc/null-beside jsonrpc/null-id jsonrpc/open-limit jsonrpc/orphan jsonrpc/params-shape jsonrpc/refused jsonrpc/reserved-code jsonrpc/reserved-method jsonrpc/result-and-error jsonrpc/result-beside-method jsonrpc/stack-trace jsonrpc/subprotocol-not-offered jsonrpc/unanswered jsonrpc/upgrade-refused jsonrpc/upgrade-unanswered jsonrpc/version lsp/answered-twice lsp/batch lsp/call-failed lsp/cancel-unknown lsp/cancelled-unanswered lsp/change-kind lsp/charset lsp/client-capability lsp/configuration-length lsp/document-not-open lsp/document-opened-twice lsp/document-version lsp/duplicate-id lsp/duplicate-key lsp/error-shape lsp/exit-without-shutdown lsp/header-line-end lsp/header-spelling lsp/id-fraction lsp/id-range lsp/id-type lsp/id-type-changed lsp/initialized-missing lsp/length-repeated lsp/malformed lsp/method-type lsp/missing-id lsp/missing-param lsp/notification-before-initialize lsp/notification-with-id lsp/null-beside lsp/null-id lsp/open-limit lsp/orphan lsp/param-type lsp/params-shape lsp/partial-result lsp/position lsp/progress-end lsp/progress-order lsp/progress-token lsp/range lsp/request-after-shutdown lsp/request-before-initialize lsp/request-not-open lsp/request-without-id lsp/result-and-error lsp/result-beside-method lsp/result-type lsp/second-initialize lsp/selection-range lsp/semantic-tokens lsp/server-capability lsp/subprotocol-not-offered lsp/unanswered lsp/unknown-method lsp/upgrade-refused lsp/upgrade-unanswered lsp/version lsp/wrong-direction mcp/answer-after-cancel mcp/answered-twice mcp/batch mcp/batch-answer mcp/batch-empty mcp/batch-member mcp/before-initialize mcp/before-initialized mcp/blank-line mcp/call-failed mcp/cancel-initialize mcp/cancel-unknown mcp/cancelled-unanswered mcp/capability-missing mcp/content-type mcp/duplicate-id mcp/duplicate-key mcp/elicitation-schema mcp/era-mixed mcp/error-shape mcp/header-line-end mcp/header-mismatch mcp/id-fraction mcp/id-range mcp/id-type mcp/id-type-changed mcp/initialized-early mcp/input-not-asked mcp/input-request mcp/log-level mcp/malformed mcp/meta-missing mcp/method-type mcp/missing-content mcp/missing-id mcp/missing-param mcp/not-a-message mcp/not-in-version mcp/not-json mcp/notification-with-id mcp/null-beside mcp/null-id mcp/open-limit mcp/orphan mcp/param-type mcp/params-shape mcp/progress-after-answer mcp/progress-order mcp/progress-token mcp/progress-token-shared mcp/refused mcp/request-state mcp/request-without-id mcp/result-and-error mcp/result-beside-method mcp/result-type mcp/result-type-missing mcp/second-initialize mcp/server-request mcp/session-ended mcp/session-missing mcp/subprotocol-not-offered mcp/subscription-acknowledged mcp/subscription-id mcp/subscription-kind mcp/tool-arguments mcp/tool-changed mcp/tool-result mcp/unanswered mcp/unknown-cursor mcp/unknown-method mcp/unknown-tool mcp/unknown-version mcp/upgrade-refused mcp/upgrade-unanswered mcp/version mcp/version-header mcp/version-lowered mcp/wrong-direction nvim/answered-twice nvim/call-failed nvim/id-reused nvim/malformed nvim/no-match nvim/not-checked nvim/open-limit nvim/orphan nvim/subprotocol-not-offered nvim/unanswered nvim/upgrade-refused nvim/upgrade-unanswered nvim/wrong-direction nvim/wrong-type oracle/ack-id oracle/alive-after-refusal oracle/answer-after-eof oracle/answer-id oracle/backtrace oracle/blank-line oracle/call-failed oracle/calldata-surplus oracle/calldata-type oracle/connection-cr oracle/connection-shell oracle/crlf oracle/cut-line oracle/desync oracle/died-in-invoke oracle/error-code oracle/error-code-range oracle/error-shape oracle/extra-line oracle/felt-form oracle/felt-range oracle/felt-spelling oracle/first-byte oracle/first-not-ready oracle/id-form oracle/id-order oracle/invoke-after-shutdown oracle/invoke-no-id oracle/invoke-params oracle/invoke-unacknowledged oracle/left-idle oracle/lone-cr oracle/lone-surrogate oracle/long-line oracle/malformed oracle/nesting oracle/no-ready oracle/no-result oracle/no-shutdown oracle/not-a-message oracle/not-an-object oracle/not-json oracle/not-unicode oracle/null-id oracle/open-limit oracle/oracle-asks oracle/output-after-shutdown oracle/overlap oracle/positional-params oracle/ready-params oracle/ready-twice oracle/repeated-key oracle/result-and-error oracle/result-shape oracle/result-surplus oracle/result-type oracle/shutdown-id oracle/shutdown-params oracle/speaks-before-ready oracle/stray-ack oracle/subprotocol-not-offered oracle/trailing-bytes oracle/unanswered oracle/unknown-member oracle/unknown-method oracle/upgrade-refused oracle/upgrade-unanswered oracle/version sael/ack-undefined sael/after-bye sael/anonymous-effect sael/anonymous-resume sael/anonymous-subscription sael/answer-after-end sael/answer-kind sael/answer-unasked sael/auth-type sael/bind-nothing sael/bind-without-tool sael/call-both sael/call-empty sael/call-failed sael/cancel-kind sael/cancel-late sael/cancel-unknown sael/capability-denied sael/capability-ignored sael/client-silent sael/cost-over-limit sael/delta-mixed sael/delta-snapshot sael/delta-undeclared sael/dropped-call sael/dropped-subscription sael/error-code sael/error-code-extra sael/event-after-unsubscribe sael/event-early sael/field-missing sael/filter-odd sael/header-form sael/heartbeat-echo sael/heartbeat-late sael/heartbeat-unanswered sael/heartbeat-unit sael/hey-again sael/hey-answer sael/hey-first sael/hey-unanswered sael/input-unchecked sael/item-content sael/json-in-binary sael/kind-direction sael/kind-unknown sael/login-error-seq sael/login-refused sael/malformed sael/mask sael/msgpack-unagreed sael/open-limit sael/parallel-shape sael/refused-goes-on sael/replay-count sael/replay-lost sael/replay-many sael/replay-old sael/replay-twice sael/resume-ahead sael/resume-unknown sael/scope-differs sael/seq-missing sael/seq-not-rising sael/seq-reused sael/seq-value sael/span-id sael/stage-kind sael/stage-unsupported sael/stage-value sael/still-sending sael/stream-ends-with-result sael/stream-not-streamed sael/stream-survived sael/stream-undeclared sael/subprotocol-name sael/subprotocol-not-offered sael/subscription-id sael/subscription-unknown sael/text-despite-msgpack sael/token-claims sael/token-client sael/token-expired sael/token-exposed sael/token-in-clear sael/token-issued-later sael/token-long-lived sael/token-not-yet sael/token-shape sael/token-signature sael/tool-cost sael/tool-effect sael/tool-unlisted sael/trace-dropped sael/trace-id sael/trace-mismatch sael/unanswered sael/upgrade-refused sael/upgrade-unanswered sael/version-missing sael/version-mixed sael/version-unknown sael/window-exceeded sael/window-value saikuro/ack-namespace saikuro/after-end saikuro/after-own-close saikuro/ambiguous-id saikuro/announce-late saikuro/announce-refused saikuro/answer-id-form saikuro/args-unfit saikuro/bad-error saikuro/bad-field saikuro/bad-id saikuro/bad-schema saikuro/bad-target saikuro/bad-text saikuro/bad-version saikuro/batch-count saikuro/batch-duplicate-id saikuro/batch-ok saikuro/batch-order saikuro/batch-without-target saikuro/call-failed saikuro/capability-missing saikuro/capability-undeclared saikuro/cast-answered saikuro/cast-refused saikuro/channel-item-refused saikuro/channel-not-closed saikuro/document-capability saikuro/document-error-code saikuro/duplicate-key saikuro/empty-batch saikuro/empty-frame saikuro/error-missing saikuro/extension-value saikuro/frame-too-long saikuro/id-reused saikuro/item-from-opener saikuro/items-unacknowledged saikuro/late-answer saikuro/log-answered saikuro/malformed saikuro/mask saikuro/missing-args saikuro/missing-id saikuro/mixed-error-codes saikuro/namespace-twice saikuro/non-string-key saikuro/not-messagepack saikuro/ok-with-error saikuro/open-limit saikuro/out-of-order saikuro/own-namespace saikuro/peers-capability saikuro/peers-error-code saikuro/peers-type saikuro/random-id saikuro/result-missing saikuro/result-unfit saikuro/schema-kind saikuro/schema-version saikuro/second-answer saikuro/seq-gap saikuro/seq-repeated saikuro/seq-start saikuro/stream-answered saikuro/stream-not-aborted saikuro/stream-unfinished saikuro/subprotocol-not-offered saikuro/text-frame saikuro/trailing-bytes saikuro/unanswered saikuro/unknown-error-code saikuro/unknown-id saikuro/unknown-message saikuro/unknown-type saikuro/unread-version saikuro/upgrade-refused saikuro/upgrade-unanswered stepflow/accept stepflow/answer-after-eof stepflow/answer-before-callback stepflow/answer-missing stepflow/answered-twice stepflow/attempt stepflow/before-initialize stepflow/before-initialized stepflow/blank-line stepflow/blob-id stepflow/blob-unknown stepflow/call-failed stepflow/callback-answer-refused stepflow/callback-outside-execute stepflow/component-object stepflow/content-type stepflow/crlf stepflow/duplicate-id stepflow/duplicate-key stepflow/error-code stepflow/error-message stepflow/error-shape stepflow/event-after-answer stepflow/id-range stepflow/id-type stepflow/id-type-changed stepflow/initialize-unanswered stepflow/initialized-early stepflow/lone-cr stepflow/long-answer stepflow/long-line stepflow/malformed stepflow/missing-id stepflow/missing-param stepflow/missing-result stepflow/mixed-releases stepflow/not-a-message stepflow/not-an-object stepflow/not-json stepflow/not-text stepflow/notification-answered stepflow/notification-with-id stepflow/null-beside stepflow/null-id stepflow/null-id-error stepflow/null-result stepflow/open-limit stepflow/orphan stepflow/out-of-order stepflow/param-type stepflow/params-missing stepflow/params-type stepflow/refused stepflow/request-in-body stepflow/request-without-id stepflow/result-and-error stepflow/result-beside-method stepflow/result-type stepflow/second-initialize stepflow/span-id stepflow/stream-ends-early stepflow/subprotocol-not-offered stepflow/trace-id stepflow/trailing-bytes stepflow/unanswered stepflow/unknown-method stepflow/unknown-notification stepflow/upgrade-refused stepflow/upgrade-unanswered stepflow/version-mismatch stepflow/version-missing stepflow/version-wrong stepflow/wrong-answer stepflow/wrong-direction telequick/audio-after-end telequick/audio-empty telequick/audio-order telequick/audio-size telequick/call-failed telequick/call-over telequick/call-too-early telequick/codec-change telequick/compat-above-version telequick/cut-short telequick/dial-action telequick/disputed-id telequick/dtmf-args telequick/early-statistics telequick/envelope-overrun telequick/error-without-message telequick/event-after-hangup telequick/event-order telequick/field-overrun telequick/flavour-change telequick/frame-length telequick/frame-limit telequick/gateway-verb telequick/hold-order telequick/inclusive-length telequick/invalid-text telequick/jitter-range telequick/legacy-id telequick/malformed telequick/message-without-error telequick/missing-fields telequick/misspelt-id telequick/mos-range telequick/negative-size telequick/newer-version telequick/no-end-of-stream telequick/no-subscription telequick/not-finite telequick/nul-in-string telequick/odd-bool telequick/older-version telequick/open-limit telequick/peer-limit telequick/seq-back telequick/seq-gap telequick/shared-stream telequick/string-length telequick/subprotocol-not-offered telequick/time-order telequick/too-deep telequick/trailing-bytes telequick/unanswered telequick/unasked telequick/unexpected-tail telequick/unframed-answer telequick/unknown-call telequick/unknown-codec telequick/unknown-enum telequick/unknown-event telequick/unknown-method telequick/unreadable-version telequick/upgrade-refused telequick/upgrade-unanswered telequick/vector-count telequick/verb-too-early telequick/wrong-client telequick/wrong-stream" -- "${cur}"))
                    return 0
                    ;;
                --deny)
                    COMPREPLY=($(compgen -W "acp/answered-twice acp/batch acp/before-initialize acp/blank-line acp/call-failed acp/cancel-ignored acp/cancel-unknown acp/cancelled-unanswered acp/capability-missing acp/connection-missing acp/duplicate-id acp/duplicate-key acp/error-shape acp/id-fraction acp/id-range acp/id-type acp/id-type-changed acp/line-zero acp/malformed acp/method-type acp/missing-id acp/missing-param acp/not-a-message acp/not-json acp/notification-with-id acp/null-beside acp/null-id acp/open-limit acp/orphan acp/param-type acp/params-shape acp/permission-after-cancel acp/prompt-in-turn acp/refused acp/relative-path acp/request-without-id acp/result-and-error acp/result-beside-method acp/result-type acp/second-initialize acp/session-closed acp/session-ended acp/status-back acp/subprotocol-not-offered acp/terminal-released acp/tool-call-again acp/tool-call-running acp/unanswered acp/unknown-method acp/unknown-mode acp/unknown-option acp/unknown-session acp/unknown-terminal acp/unknown-tool-call acp/unknown-update acp/unknown-version acp/update-outside-turn acp/upgrade-refused acp/upgrade-unanswered acp/version acp/version-raised acp/wrong-direction cdp/answered-twice cdp/call-failed cdp/id-reused cdp/malformed cdp/no-match cdp/not-checked cdp/open-limit cdp/orphan cdp/subprotocol-not-offered cdp/unanswered cdp/upgrade-refused cdp/upgrade-unanswered cdp/wrong-direction cdp/wrong-type dap/after-terminated dap/answered-twice dap/call-failed dap/configuration-done-early dap/debugging-not-announced dap/id-reused dap/initialize-first dap/initialize-once dap/malformed dap/no-match dap/not-checked dap/open-limit dap/orphan dap/other-command dap/reverse-not-announced dap/reverse-wrong-side dap/seq-order dap/subprotocol-not-offered dap/unanswered dap/upgrade-refused dap/upgrade-unanswered dap/wrong-direction dap/wrong-side dap/wrong-type i3/answered-twice i3/call-failed i3/id-reused i3/malformed i3/no-match i3/not-checked i3/open-limit i3/orphan i3/subprotocol-not-offered i3/unanswered i3/upgrade-refused i3/upgrade-unanswered i3/wrong-direction i3/wrong-type jsonrpc/answered-twice jsonrpc/batch-answer jsonrpc/batch-empty jsonrpc/batch-member jsonrpc/blank-line jsonrpc/call-failed jsonrpc/duplicate-id jsonrpc/duplicate-key jsonrpc/error-shape jsonrpc/id-fraction jsonrpc/id-range jsonrpc/id-type jsonrpc/id-type-changed jsonrpc/malformed jsonrpc/method-type jsonrpc/missing-id jsonrpc/null-beside jsonrpc/null-id jsonrpc/open-limit jsonrpc/orphan jsonrpc/params-shape jsonrpc/refused jsonrpc/reserved-code jsonrpc/reserved-method jsonrpc/result-and-error jsonrpc/result-beside-method jsonrpc/stack-trace jsonrpc/subprotocol-not-offered jsonrpc/unanswered jsonrpc/upgrade-refused jsonrpc/upgrade-unanswered jsonrpc/version lsp/answered-twice lsp/batch lsp/call-failed lsp/cancel-unknown lsp/cancelled-unanswered lsp/change-kind lsp/charset lsp/client-capability lsp/configuration-length lsp/document-not-open lsp/document-opened-twice lsp/document-version lsp/duplicate-id lsp/duplicate-key lsp/error-shape lsp/exit-without-shutdown lsp/header-line-end lsp/header-spelling lsp/id-fraction lsp/id-range lsp/id-type lsp/id-type-changed lsp/initialized-missing lsp/length-repeated lsp/malformed lsp/method-type lsp/missing-id lsp/missing-param lsp/notification-before-initialize lsp/notification-with-id lsp/null-beside lsp/null-id lsp/open-limit lsp/orphan lsp/param-type lsp/params-shape lsp/partial-result lsp/position lsp/progress-end lsp/progress-order lsp/progress-token lsp/range lsp/request-after-shutdown lsp/request-before-initialize lsp/request-not-open lsp/request-without-id lsp/result-and-error lsp/result-beside-method lsp/result-type lsp/second-initialize lsp/selection-range lsp/semantic-tokens lsp/server-capability lsp/subprotocol-not-offered lsp/unanswered lsp/unknown-method lsp/upgrade-refused lsp/upgrade-unanswered lsp/version lsp/wrong-direction mcp/answer-after-cancel mcp/answered-twice mcp/batch mcp/batch-answer mcp/batch-empty mcp/batch-member mcp/before-initialize mcp/before-initialized mcp/blank-line mcp/call-failed mcp/cancel-initialize mcp/cancel-unknown mcp/cancelled-unanswered mcp/capability-missing mcp/content-type mcp/duplicate-id mcp/duplicate-key mcp/elicitation-schema mcp/era-mixed mcp/error-shape mcp/header-line-end mcp/header-mismatch mcp/id-fraction mcp/id-range mcp/id-type mcp/id-type-changed mcp/initialized-early mcp/input-not-asked mcp/input-request mcp/log-level mcp/malformed mcp/meta-missing mcp/method-type mcp/missing-content mcp/missing-id mcp/missing-param mcp/not-a-message mcp/not-in-version mcp/not-json mcp/notification-with-id mcp/null-beside mcp/null-id mcp/open-limit mcp/orphan mcp/param-type mcp/params-shape mcp/progress-after-answer mcp/progress-order mcp/progress-token mcp/progress-token-shared mcp/refused mcp/request-state mcp/request-without-id mcp/result-and-error mcp/result-beside-method mcp/result-type mcp/result-type-missing mcp/second-initialize mcp/server-request mcp/session-ended mcp/session-missing mcp/subprotocol-not-offered mcp/subscription-acknowledged mcp/subscription-id mcp/subscription-kind mcp/tool-arguments mcp/tool-changed mcp/tool-result mcp/unanswered mcp/unknown-cursor mcp/unknown-method mcp/unknown-tool mcp/unknown-version mcp/upgrade-refused mcp/upgrade-unanswered mcp/version mcp/version-header mcp/version-lowered mcp/wrong-direction nvim/answered-twice nvim/call-failed nvim/id-reused nvim/malformed nvim/no-match nvim/not-checked nvim/open-limit nvim/orphan nvim/subprotocol-not-offered nvim/unanswered nvim/upgrade-refused nvim/upgrade-unanswered nvim/wrong-direction nvim/wrong-type oracle/ack-id oracle/alive-after-refusal oracle/answer-after-eof oracle/answer-id oracle/backtrace oracle/blank-line oracle/call-failed oracle/calldata-surplus oracle/calldata-type oracle/connection-cr oracle/connection-shell oracle/crlf oracle/cut-line oracle/desync oracle/died-in-invoke oracle/error-code oracle/error-code-range oracle/error-shape oracle/extra-line oracle/felt-form oracle/felt-range oracle/felt-spelling oracle/first-byte oracle/first-not-ready oracle/id-form oracle/id-order oracle/invoke-after-shutdown oracle/invoke-no-id oracle/invoke-params oracle/invoke-unacknowledged oracle/left-idle oracle/lone-cr oracle/lone-surrogate oracle/long-line oracle/malformed oracle/nesting oracle/no-ready oracle/no-result oracle/no-shutdown oracle/not-a-message oracle/not-an-object oracle/not-json oracle/not-unicode oracle/null-id oracle/open-limit oracle/oracle-asks oracle/output-after-shutdown oracle/overlap oracle/positional-params oracle/ready-params oracle/ready-twice oracle/repeated-key oracle/result-and-error oracle/result-shape oracle/result-surplus oracle/result-type oracle/shutdown-id oracle/shutdown-params oracle/speaks-before-ready oracle/stray-ack oracle/subprotocol-not-offered oracle/trailing-bytes oracle/unanswered oracle/unknown-member oracle/unknown-method oracle/upgrade-refused oracle/upgrade-unanswered oracle/version sael/ack-undefined sael/after-bye sael/anonymous-effect sael/anonymous-resume sael/anonymous-subscription sael/answer-after-end sael/answer-kind sael/answer-unasked sael/auth-type sael/bind-nothing sael/bind-without-tool sael/call-both sael/call-empty sael/call-failed sael/cancel-kind sael/cancel-late sael/cancel-unknown sael/capability-denied sael/capability-ignored sael/client-silent sael/cost-over-limit sael/delta-mixed sael/delta-snapshot sael/delta-undeclared sael/dropped-call sael/dropped-subscription sael/error-code sael/error-code-extra sael/event-after-unsubscribe sael/event-early sael/field-missing sael/filter-odd sael/header-form sael/heartbeat-echo sael/heartbeat-late sael/heartbeat-unanswered sael/heartbeat-unit sael/hey-again sael/hey-answer sael/hey-first sael/hey-unanswered sael/input-unchecked sael/item-content sael/json-in-binary sael/kind-direction sael/kind-unknown sael/login-error-seq sael/login-refused sael/malformed sael/mask sael/msgpack-unagreed sael/open-limit sael/parallel-shape sael/refused-goes-on sael/replay-count sael/replay-lost sael/replay-many sael/replay-old sael/replay-twice sael/resume-ahead sael/resume-unknown sael/scope-differs sael/seq-missing sael/seq-not-rising sael/seq-reused sael/seq-value sael/span-id sael/stage-kind sael/stage-unsupported sael/stage-value sael/still-sending sael/stream-ends-with-result sael/stream-not-streamed sael/stream-survived sael/stream-undeclared sael/subprotocol-name sael/subprotocol-not-offered sael/subscription-id sael/subscription-unknown sael/text-despite-msgpack sael/token-claims sael/token-client sael/token-expired sael/token-exposed sael/token-in-clear sael/token-issued-later sael/token-long-lived sael/token-not-yet sael/token-shape sael/token-signature sael/tool-cost sael/tool-effect sael/tool-unlisted sael/trace-dropped sael/trace-id sael/trace-mismatch sael/unanswered sael/upgrade-refused sael/upgrade-unanswered sael/version-missing sael/version-mixed sael/version-unknown sael/window-exceeded sael/window-value saikuro/ack-namespace saikuro/after-end saikuro/after-own-close saikuro/ambiguous-id saikuro/announce-late saikuro/announce-refused saikuro/answer-id-form saikuro/args-unfit saikuro/bad-error saikuro/bad-field saikuro/bad-id saikuro/bad-schema saikuro/bad-target saikuro/bad-text saikuro/bad-version saikuro/batch-count saikuro/batch-duplicate-id saikuro/batch-ok saikuro/batch-order saikuro/batch-without-target saikuro/call-failed saikuro/capability-missing saikuro/capability-undeclared saikuro/cast-answered saikuro/cast-refused saikuro/channel-item-refused saikuro/channel-not-closed saikuro/document-capability saikuro/document-error-code saikuro/duplicate-key saikuro/empty-batch saikuro/empty-frame saikuro/error-missing saikuro/extension-value saikuro/frame-too-long saikuro/id-reused saikuro/item-from-opener saikuro/items-unacknowledged saikuro/late-answer saikuro/log-answered saikuro/malformed saikuro/mask saikuro/missing-args saikuro/missing-id saikuro/mixed-error-codes saikuro/namespace-twice saikuro/non-string-key saikuro/not-messagepack saikuro/ok-with-error saikuro/open-limit saikuro/out-of-order saikuro/own-namespace saikuro/peers-capability saikuro/peers-error-code saikuro/peers-type saikuro/random-id saikuro/result-missing saikuro/result-unfit saikuro/schema-kind saikuro/schema-version saikuro/second-answer saikuro/seq-gap saikuro/seq-repeated saikuro/seq-start saikuro/stream-answered saikuro/stream-not-aborted saikuro/stream-unfinished saikuro/subprotocol-not-offered saikuro/text-frame saikuro/trailing-bytes saikuro/unanswered saikuro/unknown-error-code saikuro/unknown-id saikuro/unknown-message saikuro/unknown-type saikuro/unread-version saikuro/upgrade-refused saikuro/upgrade-unanswered stepflow/accept stepflow/answer-after-eof stepflow/answer-before-callback stepflow/answer-missing stepflow/answered-twice stepflow/attempt stepflow/before-initialize stepflow/before-initialized stepflow/blank-line stepflow/blob-id stepflow/blob-unknown stepflow/call-failed stepflow/callback-answer-refused stepflow/callback-outside-execute stepflow/component-object stepflow/content-type stepflow/crlf stepflow/duplicate-id stepflow/duplicate-key stepflow/error-code stepflow/error-message stepflow/error-shape stepflow/event-after-answer stepflow/id-range stepflow/id-type stepflow/id-type-changed stepflow/initialize-unanswered stepflow/initialized-early stepflow/lone-cr stepflow/long-answer stepflow/long-line stepflow/malformed stepflow/missing-id stepflow/missing-param stepflow/missing-result stepflow/mixed-releases stepflow/not-a-message stepflow/not-an-object stepflow/not-json stepflow/not-text stepflow/notification-answered stepflow/notification-with-id stepflow/null-beside stepflow/null-id stepflow/null-id-error stepflow/null-result stepflow/open-limit stepflow/orphan stepflow/out-of-order stepflow/param-type stepflow/params-missing stepflow/params-type stepflow/refused stepflow/request-in-body stepflow/request-without-id stepflow/result-and-error stepflow/result-beside-method stepflow/result-type stepflow/second-initialize stepflow/span-id stepflow/stream-ends-early stepflow/subprotocol-not-offered stepflow/trace-id stepflow/trailing-bytes stepflow/unanswered stepflow/unknown-method stepflow/unknown-notification stepflow/upgrade-refused stepflow/upgrade-unanswered stepflow/version-mismatch stepflow/version-missing stepflow/version-wrong stepflow/wrong-answer stepflow/wrong-direction telequick/audio-after-end telequick/audio-empty telequick/audio-order telequick/audio-size telequick/call-failed telequick/call-over telequick/call-too-early telequick/codec-change telequick/compat-above-version telequick/cut-short telequick/dial-action telequick/disputed-id telequick/dtmf-args telequick/early-statistics telequick/envelope-overrun telequick/error-without-message telequick/event-after-hangup telequick/event-order telequick/field-overrun telequick/flavour-change telequick/frame-length telequick/frame-limit telequick/gateway-verb telequick/hold-order telequick/inclusive-length telequick/invalid-text telequick/jitter-range telequick/legacy-id telequick/malformed telequick/message-without-error telequick/missing-fields telequick/misspelt-id telequick/mos-range telequick/negative-size telequick/newer-version telequick/no-end-of-stream telequick/no-subscription telequick/not-finite telequick/nul-in-string telequick/odd-bool telequick/older-version telequick/open-limit telequick/peer-limit telequick/seq-back telequick/seq-gap telequick/shared-stream telequick/string-length telequick/subprotocol-not-offered telequick/time-order telequick/too-deep telequick/trailing-bytes telequick/unanswered telequick/unasked telequick/unexpected-tail telequick/unframed-answer telequick/unknown-call telequick/unknown-codec telequick/unknown-enum telequick/unknown-event telequick/unknown-method telequick/unreadable-version telequick/upgrade-refused telequick/upgrade-unanswered telequick/vector-count telequick/verb-too-early telequick/wrong-client telequick/wrong-stream" -- "${cur}"))
                    return 0
                    ;;
                --secret-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-open)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fail-on)
                    COMPREPLY=($(compgen -W "info warning error never" -- "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "tree line json hex" -- "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -W "tree line json hex" -- "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -w)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --at)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --path)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__demo)
            opts="-w -q -v -h --fast --write --svg --color --quiet --verbose --config --help mcp acp lsp jsonrpc oracle saikuro sael stepflow telequick"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --write)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -w)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --svg)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__diff)
            opts="-p -f -o -q -v -h --from --dir --port --reassembly-limit --protocol --framing --length-mode --schema --struct --signature --max-message --max-depth --no-resync --where --ignore --ignore-file --strict --learn --format --output --show-secrets --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --from)
                    COMPREPLY=($(compgen -W "auto raw hex xxd base64 jsonl text dump literal log recording pcap har page strace curl socat ngrep tcpflow tcpdump tshark" -- "${cur}"))
                    return 0
                    ;;
                --dir)
                    COMPREPLY=($(compgen -W "c2s s2c" -- "${cur}"))
                    return 0
                    ;;
                --port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --reassembly-limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --protocol)
                    COMPREPLY=($(compgen -W "saikuro oracle sael stepflow telequick mcp lsp acp jsonrpc dap cdp nvim i3" -- "${cur}"))
                    return 0
                    ;;
                -p)
                    COMPREPLY=($(compgen -W "saikuro oracle sael stepflow telequick mcp lsp acp jsonrpc dap cdp nvim i3" -- "${cur}"))
                    return 0
                    ;;
                --framing)
                    COMPREPLY=($(compgen -W "auto lines prefix method bare content-length websocket http http3 values header message fields" -- "${cur}"))
                    return 0
                    ;;
                --length-mode)
                    COMPREPLY=($(compgen -W "auto exclusive inclusive" -- "${cur}"))
                    return 0
                    ;;
                --schema)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --struct)
                    COMPREPLY=($(compgen -W "AbortBulkRequest AllocateWtRequest AllocateWtResponse AnswerIncomingCallRequest AnswerIncomingCallResponse AudioFrame BargeRequest BucketActionRequest BucketActionResponse BucketCallList BucketInfo BucketRequest BulkRequest BulkResponse CallEvent Empty EventStreamRequest ExecuteDialplanRequest ExecuteDialplanResponse GetIncomingCallsRequest GetIncomingCallsResponse IncomingCallInfo ListBucketsResponse OriginateRequest OriginateResponse SetInboundRoutingRequest SuperviseSubscribeRequest SuperviseSubscribeResponse TerminateRequest TerminateResponse" -- "${cur}"))
                    return 0
                    ;;
                --signature)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-message)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --where)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ignore)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ignore-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --learn)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__encode)
            opts="-p -o -q -v -h --protocol --to --output --framing --length-mode --dir --msgpack --schema --seed --force --set --length --truncate --patch --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --protocol)
                    COMPREPLY=($(compgen -W "saikuro oracle sael stepflow telequick mcp lsp acp jsonrpc dap cdp nvim i3" -- "${cur}"))
                    return 0
                    ;;
                -p)
                    COMPREPLY=($(compgen -W "saikuro oracle sael stepflow telequick mcp lsp acp jsonrpc dap cdp nvim i3" -- "${cur}"))
                    return 0
                    ;;
                --to)
                    COMPREPLY=($(compgen -W "raw hex xxd base64 json" -- "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --framing)
                    COMPREPLY=($(compgen -W "lines prefix method bare content-length websocket http http3 values header message fields" -- "${cur}"))
                    return 0
                    ;;
                --length-mode)
                    COMPREPLY=($(compgen -W "exclusive inclusive" -- "${cur}"))
                    return 0
                    ;;
                --dir)
                    COMPREPLY=($(compgen -W "c2s s2c" -- "${cur}"))
                    return 0
                    ;;
                --schema)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --set)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --length)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --truncate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --patch)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__export)
            opts="-p -f -o -q -v -h --from --dir --c2s --s2c --follow --merge --clock --jobs --part-size --port --reassembly-limit --protocol --framing --length-mode --schema --struct --signature --max-message --max-depth --no-resync --where --dialect --allow --deny --secret-file --max-open --format --engine --content --ops --output --otlp --show-secrets --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --from)
                    COMPREPLY=($(compgen -W "auto raw hex xxd base64 jsonl text dump literal log recording pcap har page strace curl socat ngrep tcpflow tcpdump tshark" -- "${cur}"))
                    return 0
                    ;;
                --dir)
                    COMPREPLY=($(compgen -W "c2s s2c" -- "${cur}"))
                    return 0
                    ;;
                --c2s)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --s2c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --clock)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --part-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --reassembly-limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --protocol)
                    COMPREPLY=($(compgen -W "saikuro oracle sael stepflow telequick mcp lsp acp jsonrpc dap cdp nvim i3" -- "${cur}"))
                    return 0
                    ;;
                -p)
                    COMPREPLY=($(compgen -W "saikuro oracle sael stepflow telequick mcp lsp acp jsonrpc dap cdp nvim i3" -- "${cur}"))
                    return 0
                    ;;
                --framing)
                    COMPREPLY=($(compgen -W "auto lines prefix method bare content-length websocket http http3 values header message fields" -- "${cur}"))
                    return 0
                    ;;
                --length-mode)
                    COMPREPLY=($(compgen -W "auto exclusive inclusive" -- "${cur}"))
                    return 0
                    ;;
                --schema)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --struct)
                    COMPREPLY=($(compgen -W "AbortBulkRequest AllocateWtRequest AllocateWtResponse AnswerIncomingCallRequest AnswerIncomingCallResponse AudioFrame BargeRequest BucketActionRequest BucketActionResponse BucketCallList BucketInfo BucketRequest BulkRequest BulkResponse CallEvent Empty EventStreamRequest ExecuteDialplanRequest ExecuteDialplanResponse GetIncomingCallsRequest GetIncomingCallsResponse IncomingCallInfo ListBucketsResponse OriginateRequest OriginateResponse SetInboundRoutingRequest SuperviseSubscribeRequest SuperviseSubscribeResponse TerminateRequest TerminateResponse" -- "${cur}"))
                    return 0
                    ;;
                --signature)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-message)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --where)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dialect)
                    COMPREPLY=($(compgen -W "document peers both" -- "${cur}"))
                    return 0
                    ;;
                --allow)
                    COMPREPLY=($(compgen -W "acp/answered-twice acp/batch acp/before-initialize acp/blank-line acp/call-failed acp/cancel-ignored acp/cancel-unknown acp/cancelled-unanswered acp/capability-missing acp/connection-missing acp/duplicate-id acp/duplicate-key acp/error-shape acp/id-fraction acp/id-range acp/id-type acp/id-type-changed acp/line-zero acp/malformed acp/method-type acp/missing-id acp/missing-param acp/not-a-message acp/not-json acp/notification-with-id acp/null-beside acp/null-id acp/open-limit acp/orphan acp/param-type acp/params-shape acp/permission-after-cancel acp/prompt-in-turn acp/refused acp/relative-path acp/request-without-id acp/result-and-error acp/result-beside-method acp/result-type acp/second-initialize acp/session-closed acp/session-ended acp/status-back acp/subprotocol-not-offered acp/terminal-released acp/tool-call-again acp/tool-call-running acp/unanswered acp/unknown-method acp/unknown-mode acp/unknown-option acp/unknown-session acp/unknown-terminal acp/unknown-tool-call acp/unknown-update acp/unknown-version acp/update-outside-turn acp/upgrade-refused acp/upgrade-unanswered acp/version acp/version-raised acp/wrong-direction cdp/answered-twice cdp/call-failed cdp/id-reused cdp/malformed cdp/no-match cdp/not-checked cdp/open-limit cdp/orphan cdp/subprotocol-not-offered cdp/unanswered cdp/upgrade-refused cdp/upgrade-unanswered cdp/wrong-direction cdp/wrong-type dap/after-terminated dap/answered-twice dap/call-failed dap/configuration-done-early dap/debugging-not-announced dap/id-reused dap/initialize-first dap/initialize-once dap/malformed dap/no-match dap/not-checked dap/open-limit dap/orphan dap/other-command dap/reverse-not-announced dap/reverse-wrong-side dap/seq-order dap/subprotocol-not-offered dap/unanswered dap/upgrade-refused dap/upgrade-unanswered dap/wrong-direction dap/wrong-side dap/wrong-type i3/answered-twice i3/call-failed i3/id-reused i3/malformed i3/no-match i3/not-checked i3/open-limit i3/orphan i3/subprotocol-not-offered i3/unanswered i3/upgrade-refused i3/upgrade-unanswered i3/wrong-direction i3/wrong-type jsonrpc/answered-twice jsonrpc/batch-answer jsonrpc/batch-empty jsonrpc/batch-member jsonrpc/blank-line jsonrpc/call-failed jsonrpc/duplicate-id jsonrpc/duplicate-key jsonrpc/error-shape jsonrpc/id-fraction jsonrpc/id-range jsonrpc/id-type jsonrpc/id-type-changed jsonrpc/malformed jsonrpc/method-type jsonrpc/missing-id jsonrpc/null-beside jsonrpc/null-id jsonrpc/open-limit jsonrpc/orphan jsonrpc/params-shape jsonrpc/refused jsonrpc/reserved-code jsonrpc/reserved-method jsonrpc/result-and-error jsonrpc/result-beside-method jsonrpc/stack-trace jsonrpc/subprotocol-not-offered jsonrpc/unanswered jsonrpc/upgrade-refused jsonrpc/upgrade-unanswered jsonrpc/version lsp/answered-twice lsp/batch lsp/call-failed lsp/cancel-unknown lsp/cancelled-unanswered lsp/change-kind lsp/charset lsp/client-capability lsp/configuration-length lsp/document-not-open lsp/document-opened-twice lsp/document-version lsp/duplicate-id lsp/duplicate-key lsp/error-shape lsp/exit-without-shutdown lsp/header-line-end lsp/header-spelling lsp/id-fraction lsp/id-range lsp/id-type lsp/id-type-changed lsp/initialized-missing lsp/length-repeated lsp/malformed lsp/method-type lsp/missing-id lsp/missing-param lsp/notification-before-initialize lsp/notification-with-id lsp/null-beside lsp/null-id lsp/open-limit lsp/orphan lsp/param-type lsp/params-shape lsp/partial-result lsp/position lsp/progress-end lsp/progress-order lsp/progress-token lsp/range lsp/request-after-shutdown lsp/request-before-initialize lsp/request-not-open lsp/request-without-id lsp/result-and-error lsp/result-beside-method lsp/result-type lsp/second-initialize lsp/selection-range lsp/semantic-tokens lsp/server-capability lsp/subprotocol-not-offered lsp/unanswered lsp/unknown-method lsp/upgrade-refused lsp/upgrade-unanswered lsp/version lsp/wrong-direction mcp/answer-after-cancel mcp/answered-twice mcp/batch mcp/batch-answer mcp/batch-empty mcp/batch-member mcp/before-initialize mcp/before-initialized mcp/blank-line mcp/call-failed mcp/cancel-initialize mcp/cancel-unknown mcp/cancelled-unanswered mcp/capability-missing mcp/content-type mcp/duplicate-id mcp/duplicate-key mcp/elicitation-schema mcp/era-mixed mcp/error-shape mcp/header-line-end mcp/header-mismatch mcp/id-fraction mcp/id-range mcp/id-type mcp/id-type-changed mcp/initialized-early mcp/input-not-asked mcp/input-request mcp/log-level mcp/malformed mcp/meta-missing mcp/method-type mcp/missing-content mcp/missing-id mcp/missing-param mcp/not-a-message mcp/not-in-version mcp/not-json mcp/notification-with-id mcp/null-beside mcp/null-id mcp/open-limit mcp/orphan mcp/param-type mcp/params-shape mcp/progress-after-answer mcp/progress-order mcp/progress-token mcp/progress-token-shared mcp/refused mcp/request-state mcp/request-without-id mcp/result-and-error mcp/result-beside-method mcp/result-type mcp/result-type-missing mcp/second-initialize mcp/server-request mcp/session-ended mcp/session-missing mcp/subprotocol-not-offered mcp/subscription-acknowledged mcp/subscription-id mcp/subscription-kind mcp/tool-arguments mcp/tool-changed mcp/tool-result mcp/unanswered mcp/unknown-cursor mcp/unknown-method mcp/unknown-tool mcp/unknown-version mcp/upgrade-refused mcp/upgrade-unanswered mcp/version mcp/version-header mcp/version-lowered mcp/wrong-direction nvim/answered-twice nvim/call-failed nvim/id-reused nvim/malformed nvim/no-match nvim/not-checked nvim/open-limit nvim/orphan nvim/subprotocol-not-offered nvim/unanswered nvim/upgrade-refused nvim/upgrade-unanswered nvim/wrong-direction nvim/wrong-type oracle/ack-id oracle/alive-after-refusal oracle/answer-after-eof oracle/answer-id oracle/backtrace oracle/blank-line oracle/call-failed oracle/calldata-surplus oracle/calldata-type oracle/connection-cr oracle/connection-shell oracle/crlf oracle/cut-line oracle/desync oracle/died-in-invoke oracle/error-code oracle/error-code-range oracle/error-shape oracle/extra-line oracle/felt-form oracle/felt-range oracle/felt-spelling oracle/first-byte oracle/first-not-ready oracle/id-form oracle/id-order oracle/invoke-after-shutdown oracle/invoke-no-id oracle/invoke-params oracle/invoke-unacknowledged oracle/left-idle oracle/lone-cr oracle/lone-surrogate oracle/long-line oracle/malformed oracle/nesting oracle/no-ready oracle/no-result oracle/no-shutdown oracle/not-a-message oracle/not-an-object oracle/not-json oracle/not-unicode oracle/null-id oracle/open-limit oracle/oracle-asks oracle/output-after-shutdown oracle/overlap oracle/positional-params oracle/ready-params oracle/ready-twice oracle/repeated-key oracle/result-and-error oracle/result-shape oracle/result-surplus oracle/result-type oracle/shutdown-id oracle/shutdown-params oracle/speaks-before-ready oracle/stray-ack oracle/subprotocol-not-offered oracle/trailing-bytes oracle/unanswered oracle/unknown-member oracle/unknown-method oracle/upgrade-refused oracle/upgrade-unanswered oracle/version sael/ack-undefined sael/after-bye sael/anonymous-effect sael/anonymous-resume sael/anonymous-subscription sael/answer-after-end sael/answer-kind sael/answer-unasked sael/auth-type sael/bind-nothing sael/bind-without-tool sael/call-both sael/call-empty sael/call-failed sael/cancel-kind sael/cancel-late sael/cancel-unknown sael/capability-denied sael/capability-ignored sael/client-silent sael/cost-over-limit sael/delta-mixed sael/delta-snapshot sael/delta-undeclared sael/dropped-call sael/dropped-subscription sael/error-code sael/error-code-extra sael/event-after-unsubscribe sael/event-early sael/field-missing sael/filter-odd sael/header-form sael/heartbeat-echo sael/heartbeat-late sael/heartbeat-unanswered sael/heartbeat-unit sael/hey-again sael/hey-answer sael/hey-first sael/hey-unanswered sael/input-unchecked sael/item-content sael/json-in-binary sael/kind-direction sael/kind-unknown sael/login-error-seq sael/login-refused sael/malformed sael/mask sael/msgpack-unagreed sael/open-limit sael/parallel-shape sael/refused-goes-on sael/replay-count sael/replay-lost sael/replay-many sael/replay-old sael/replay-twice sael/resume-ahead sael/resume-unknown sael/scope-differs sael/seq-missing sael/seq-not-rising sael/seq-reused sael/seq-value sael/span-id sael/stage-kind sael/stage-unsupported sael/stage-value sael/still-sending sael/stream-ends-with-result sael/stream-not-streamed sael/stream-survived sael/stream-undeclared sael/subprotocol-name sael/subprotocol-not-offered sael/subscription-id sael/subscription-unknown sael/text-despite-msgpack sael/token-claims sael/token-client sael/token-expired sael/token-exposed sael/token-in-clear sael/token-issued-later sael/token-long-lived sael/token-not-yet sael/token-shape sael/token-signature sael/tool-cost sael/tool-effect sael/tool-unlisted sael/trace-dropped sael/trace-id sael/trace-mismatch sael/unanswered sael/upgrade-refused sael/upgrade-unanswered sael/version-missing sael/version-mixed sael/version-unknown sael/window-exceeded sael/window-value saikuro/ack-namespace saikuro/after-end saikuro/after-own-close saikuro/ambiguous-id saikuro/announce-late saikuro/announce-refused saikuro/answer-id-form saikuro/args-unfit saikuro/bad-error saikuro/bad-field saikuro/bad-id saikuro/bad-schema saikuro/bad-target saikuro/bad-text saikuro/bad-version saikuro/batch-count saikuro/batch-duplicate-id saikuro/batch-ok saikuro/batch-order saikuro/batch-without-target saikuro/call-failed saikuro/capability-missing saikuro/capability-undeclared saikuro/cast-answered saikuro/cast-refused saikuro/channel-item-refused saikuro/channel-not-closed saikuro/document-capability saikuro/document-error-code saikuro/duplicate-key saikuro/empty-batch saikuro/empty-frame saikuro/error-missing saikuro/extension-value saikuro/frame-too-long saikuro/id-reused saikuro/item-from-opener saikuro/items-unacknowledged saikuro/late-answer saikuro/log-answered saikuro/malformed saikuro/mask saikuro/missing-args saikuro/missing-id saikuro/mixed-error-codes saikuro/namespace-twice saikuro/non-string-key saikuro/not-messagepack saikuro/ok-with-error saikuro/open-limit saikuro/out-of-order saikuro/own-namespace saikuro/peers-capability saikuro/peers-error-code saikuro/peers-type saikuro/random-id saikuro/result-missing saikuro/result-unfit saikuro/schema-kind saikuro/schema-version saikuro/second-answer saikuro/seq-gap saikuro/seq-repeated saikuro/seq-start saikuro/stream-answered saikuro/stream-not-aborted saikuro/stream-unfinished saikuro/subprotocol-not-offered saikuro/text-frame saikuro/trailing-bytes saikuro/unanswered saikuro/unknown-error-code saikuro/unknown-id saikuro/unknown-message saikuro/unknown-type saikuro/unread-version saikuro/upgrade-refused saikuro/upgrade-unanswered stepflow/accept stepflow/answer-after-eof stepflow/answer-before-callback stepflow/answer-missing stepflow/answered-twice stepflow/attempt stepflow/before-initialize stepflow/before-initialized stepflow/blank-line stepflow/blob-id stepflow/blob-unknown stepflow/call-failed stepflow/callback-answer-refused stepflow/callback-outside-execute stepflow/component-object stepflow/content-type stepflow/crlf stepflow/duplicate-id stepflow/duplicate-key stepflow/error-code stepflow/error-message stepflow/error-shape stepflow/event-after-answer stepflow/id-range stepflow/id-type stepflow/id-type-changed stepflow/initialize-unanswered stepflow/initialized-early stepflow/lone-cr stepflow/long-answer stepflow/long-line stepflow/malformed stepflow/missing-id stepflow/missing-param stepflow/missing-result stepflow/mixed-releases stepflow/not-a-message stepflow/not-an-object stepflow/not-json stepflow/not-text stepflow/notification-answered stepflow/notification-with-id stepflow/null-beside stepflow/null-id stepflow/null-id-error stepflow/null-result stepflow/open-limit stepflow/orphan stepflow/out-of-order stepflow/param-type stepflow/params-missing stepflow/params-type stepflow/refused stepflow/request-in-body stepflow/request-without-id stepflow/result-and-error stepflow/result-beside-method stepflow/result-type stepflow/second-initialize stepflow/span-id stepflow/stream-ends-early stepflow/subprotocol-not-offered stepflow/trace-id stepflow/trailing-bytes stepflow/unanswered stepflow/unknown-method stepflow/unknown-notification stepflow/upgrade-refused stepflow/upgrade-unanswered stepflow/version-mismatch stepflow/version-missing stepflow/version-wrong stepflow/wrong-answer stepflow/wrong-direction telequick/audio-after-end telequick/audio-empty telequick/audio-order telequick/audio-size telequick/call-failed telequick/call-over telequick/call-too-early telequick/codec-change telequick/compat-above-version telequick/cut-short telequick/dial-action telequick/disputed-id telequick/dtmf-args telequick/early-statistics telequick/envelope-overrun telequick/error-without-message telequick/event-after-hangup telequick/event-order telequick/field-overrun telequick/flavour-change telequick/frame-length telequick/frame-limit telequick/gateway-verb telequick/hold-order telequick/inclusive-length telequick/invalid-text telequick/jitter-range telequick/legacy-id telequick/malformed telequick/message-without-error telequick/missing-fields telequick/misspelt-id telequick/mos-range telequick/negative-size telequick/newer-version telequick/no-end-of-stream telequick/no-subscription telequick/not-finite telequick/nul-in-string telequick/odd-bool telequick/older-version telequick/open-limit telequick/peer-limit telequick/seq-back telequick/seq-gap telequick/shared-stream telequick/string-length telequick/subprotocol-not-offered telequick/time-order telequick/too-deep telequick/trailing-bytes telequick/unanswered telequick/unasked telequick/unexpected-tail telequick/unframed-answer telequick/unknown-call telequick/unknown-codec telequick/unknown-enum telequick/unknown-event telequick/unknown-method telequick/unreadable-version telequick/upgrade-refused telequick/upgrade-unanswered telequick/vector-count telequick/verb-too-early telequick/wrong-client telequick/wrong-stream" -- "${cur}"))
                    return 0
                    ;;
                --deny)
                    COMPREPLY=($(compgen -W "acp/answered-twice acp/batch acp/before-initialize acp/blank-line acp/call-failed acp/cancel-ignored acp/cancel-unknown acp/cancelled-unanswered acp/capability-missing acp/connection-missing acp/duplicate-id acp/duplicate-key acp/error-shape acp/id-fraction acp/id-range acp/id-type acp/id-type-changed acp/line-zero acp/malformed acp/method-type acp/missing-id acp/missing-param acp/not-a-message acp/not-json acp/notification-with-id acp/null-beside acp/null-id acp/open-limit acp/orphan acp/param-type acp/params-shape acp/permission-after-cancel acp/prompt-in-turn acp/refused acp/relative-path acp/request-without-id acp/result-and-error acp/result-beside-method acp/result-type acp/second-initialize acp/session-closed acp/session-ended acp/status-back acp/subprotocol-not-offered acp/terminal-released acp/tool-call-again acp/tool-call-running acp/unanswered acp/unknown-method acp/unknown-mode acp/unknown-option acp/unknown-session acp/unknown-terminal acp/unknown-tool-call acp/unknown-update acp/unknown-version acp/update-outside-turn acp/upgrade-refused acp/upgrade-unanswered acp/version acp/version-raised acp/wrong-direction cdp/answered-twice cdp/call-failed cdp/id-reused cdp/malformed cdp/no-match cdp/not-checked cdp/open-limit cdp/orphan cdp/subprotocol-not-offered cdp/unanswered cdp/upgrade-refused cdp/upgrade-unanswered cdp/wrong-direction cdp/wrong-type dap/after-terminated dap/answered-twice dap/call-failed dap/configuration-done-early dap/debugging-not-announced dap/id-reused dap/initialize-first dap/initialize-once dap/malformed dap/no-match dap/not-checked dap/open-limit dap/orphan dap/other-command dap/reverse-not-announced dap/reverse-wrong-side dap/seq-order dap/subprotocol-not-offered dap/unanswered dap/upgrade-refused dap/upgrade-unanswered dap/wrong-direction dap/wrong-side dap/wrong-type i3/answered-twice i3/call-failed i3/id-reused i3/malformed i3/no-match i3/not-checked i3/open-limit i3/orphan i3/subprotocol-not-offered i3/unanswered i3/upgrade-refused i3/upgrade-unanswered i3/wrong-direction i3/wrong-type jsonrpc/answered-twice jsonrpc/batch-answer jsonrpc/batch-empty jsonrpc/batch-member jsonrpc/blank-line jsonrpc/call-failed jsonrpc/duplicate-id jsonrpc/duplicate-key jsonrpc/error-shape jsonrpc/id-fraction jsonrpc/id-range jsonrpc/id-type jsonrpc/id-type-changed jsonrpc/malformed jsonrpc/method-type jsonrpc/missing-id jsonrpc/null-beside jsonrpc/null-id jsonrpc/open-limit jsonrpc/orphan jsonrpc/params-shape jsonrpc/refused jsonrpc/reserved-code jsonrpc/reserved-method jsonrpc/result-and-error jsonrpc/result-beside-method jsonrpc/stack-trace jsonrpc/subprotocol-not-offered jsonrpc/unanswered jsonrpc/upgrade-refused jsonrpc/upgrade-unanswered jsonrpc/version lsp/answered-twice lsp/batch lsp/call-failed lsp/cancel-unknown lsp/cancelled-unanswered lsp/change-kind lsp/charset lsp/client-capability lsp/configuration-length lsp/document-not-open lsp/document-opened-twice lsp/document-version lsp/duplicate-id lsp/duplicate-key lsp/error-shape lsp/exit-without-shutdown lsp/header-line-end lsp/header-spelling lsp/id-fraction lsp/id-range lsp/id-type lsp/id-type-changed lsp/initialized-missing lsp/length-repeated lsp/malformed lsp/method-type lsp/missing-id lsp/missing-param lsp/notification-before-initialize lsp/notification-with-id lsp/null-beside lsp/null-id lsp/open-limit lsp/orphan lsp/param-type lsp/params-shape lsp/partial-result lsp/position lsp/progress-end lsp/progress-order lsp/progress-token lsp/range lsp/request-after-shutdown lsp/request-before-initialize lsp/request-not-open lsp/request-without-id lsp/result-and-error lsp/result-beside-method lsp/result-type lsp/second-initialize lsp/selection-range lsp/semantic-tokens lsp/server-capability lsp/subprotocol-not-offered lsp/unanswered lsp/unknown-method lsp/upgrade-refused lsp/upgrade-unanswered lsp/version lsp/wrong-direction mcp/answer-after-cancel mcp/answered-twice mcp/batch mcp/batch-answer mcp/batch-empty mcp/batch-member mcp/before-initialize mcp/before-initialized mcp/blank-line mcp/call-failed mcp/cancel-initialize mcp/cancel-unknown mcp/cancelled-unanswered mcp/capability-missing mcp/content-type mcp/duplicate-id mcp/duplicate-key mcp/elicitation-schema mcp/era-mixed mcp/error-shape mcp/header-line-end mcp/header-mismatch mcp/id-fraction mcp/id-range mcp/id-type mcp/id-type-changed mcp/initialized-early mcp/input-not-asked mcp/input-request mcp/log-level mcp/malformed mcp/meta-missing mcp/method-type mcp/missing-content mcp/missing-id mcp/missing-param mcp/not-a-message mcp/not-in-version mcp/not-json mcp/notification-with-id mcp/null-beside mcp/null-id mcp/open-limit mcp/orphan mcp/param-type mcp/params-shape mcp/progress-after-answer mcp/progress-order mcp/progress-token mcp/progress-token-shared mcp/refused mcp/request-state mcp/request-without-id mcp/result-and-error mcp/result-beside-method mcp/result-type mcp/result-type-missing mcp/second-initialize mcp/server-request mcp/session-ended mcp/session-missing mcp/subprotocol-not-offered mcp/subscription-acknowledged mcp/subscription-id mcp/subscription-kind mcp/tool-arguments mcp/tool-changed mcp/tool-result mcp/unanswered mcp/unknown-cursor mcp/unknown-method mcp/unknown-tool mcp/unknown-version mcp/upgrade-refused mcp/upgrade-unanswered mcp/version mcp/version-header mcp/version-lowered mcp/wrong-direction nvim/answered-twice nvim/call-failed nvim/id-reused nvim/malformed nvim/no-match nvim/not-checked nvim/open-limit nvim/orphan nvim/subprotocol-not-offered nvim/unanswered nvim/upgrade-refused nvim/upgrade-unanswered nvim/wrong-direction nvim/wrong-type oracle/ack-id oracle/alive-after-refusal oracle/answer-after-eof oracle/answer-id oracle/backtrace oracle/blank-line oracle/call-failed oracle/calldata-surplus oracle/calldata-type oracle/connection-cr oracle/connection-shell oracle/crlf oracle/cut-line oracle/desync oracle/died-in-invoke oracle/error-code oracle/error-code-range oracle/error-shape oracle/extra-line oracle/felt-form oracle/felt-range oracle/felt-spelling oracle/first-byte oracle/first-not-ready oracle/id-form oracle/id-order oracle/invoke-after-shutdown oracle/invoke-no-id oracle/invoke-params oracle/invoke-unacknowledged oracle/left-idle oracle/lone-cr oracle/lone-surrogate oracle/long-line oracle/malformed oracle/nesting oracle/no-ready oracle/no-result oracle/no-shutdown oracle/not-a-message oracle/not-an-object oracle/not-json oracle/not-unicode oracle/null-id oracle/open-limit oracle/oracle-asks oracle/output-after-shutdown oracle/overlap oracle/positional-params oracle/ready-params oracle/ready-twice oracle/repeated-key oracle/result-and-error oracle/result-shape oracle/result-surplus oracle/result-type oracle/shutdown-id oracle/shutdown-params oracle/speaks-before-ready oracle/stray-ack oracle/subprotocol-not-offered oracle/trailing-bytes oracle/unanswered oracle/unknown-member oracle/unknown-method oracle/upgrade-refused oracle/upgrade-unanswered oracle/version sael/ack-undefined sael/after-bye sael/anonymous-effect sael/anonymous-resume sael/anonymous-subscription sael/answer-after-end sael/answer-kind sael/answer-unasked sael/auth-type sael/bind-nothing sael/bind-without-tool sael/call-both sael/call-empty sael/call-failed sael/cancel-kind sael/cancel-late sael/cancel-unknown sael/capability-denied sael/capability-ignored sael/client-silent sael/cost-over-limit sael/delta-mixed sael/delta-snapshot sael/delta-undeclared sael/dropped-call sael/dropped-subscription sael/error-code sael/error-code-extra sael/event-after-unsubscribe sael/event-early sael/field-missing sael/filter-odd sael/header-form sael/heartbeat-echo sael/heartbeat-late sael/heartbeat-unanswered sael/heartbeat-unit sael/hey-again sael/hey-answer sael/hey-first sael/hey-unanswered sael/input-unchecked sael/item-content sael/json-in-binary sael/kind-direction sael/kind-unknown sael/login-error-seq sael/login-refused sael/malformed sael/mask sael/msgpack-unagreed sael/open-limit sael/parallel-shape sael/refused-goes-on sael/replay-count sael/replay-lost sael/replay-many sael/replay-old sael/replay-twice sael/resume-ahead sael/resume-unknown sael/scope-differs sael/seq-missing sael/seq-not-rising sael/seq-reused sael/seq-value sael/span-id sael/stage-kind sael/stage-unsupported sael/stage-value sael/still-sending sael/stream-ends-with-result sael/stream-not-streamed sael/stream-survived sael/stream-undeclared sael/subprotocol-name sael/subprotocol-not-offered sael/subscription-id sael/subscription-unknown sael/text-despite-msgpack sael/token-claims sael/token-client sael/token-expired sael/token-exposed sael/token-in-clear sael/token-issued-later sael/token-long-lived sael/token-not-yet sael/token-shape sael/token-signature sael/tool-cost sael/tool-effect sael/tool-unlisted sael/trace-dropped sael/trace-id sael/trace-mismatch sael/unanswered sael/upgrade-refused sael/upgrade-unanswered sael/version-missing sael/version-mixed sael/version-unknown sael/window-exceeded sael/window-value saikuro/ack-namespace saikuro/after-end saikuro/after-own-close saikuro/ambiguous-id saikuro/announce-late saikuro/announce-refused saikuro/answer-id-form saikuro/args-unfit saikuro/bad-error saikuro/bad-field saikuro/bad-id saikuro/bad-schema saikuro/bad-target saikuro/bad-text saikuro/bad-version saikuro/batch-count saikuro/batch-duplicate-id saikuro/batch-ok saikuro/batch-order saikuro/batch-without-target saikuro/call-failed saikuro/capability-missing saikuro/capability-undeclared saikuro/cast-answered saikuro/cast-refused saikuro/channel-item-refused saikuro/channel-not-closed saikuro/document-capability saikuro/document-error-code saikuro/duplicate-key saikuro/empty-batch saikuro/empty-frame saikuro/error-missing saikuro/extension-value saikuro/frame-too-long saikuro/id-reused saikuro/item-from-opener saikuro/items-unacknowledged saikuro/late-answer saikuro/log-answered saikuro/malformed saikuro/mask saikuro/missing-args saikuro/missing-id saikuro/mixed-error-codes saikuro/namespace-twice saikuro/non-string-key saikuro/not-messagepack saikuro/ok-with-error saikuro/open-limit saikuro/out-of-order saikuro/own-namespace saikuro/peers-capability saikuro/peers-error-code saikuro/peers-type saikuro/random-id saikuro/result-missing saikuro/result-unfit saikuro/schema-kind saikuro/schema-version saikuro/second-answer saikuro/seq-gap saikuro/seq-repeated saikuro/seq-start saikuro/stream-answered saikuro/stream-not-aborted saikuro/stream-unfinished saikuro/subprotocol-not-offered saikuro/text-frame saikuro/trailing-bytes saikuro/unanswered saikuro/unknown-error-code saikuro/unknown-id saikuro/unknown-message saikuro/unknown-type saikuro/unread-version saikuro/upgrade-refused saikuro/upgrade-unanswered stepflow/accept stepflow/answer-after-eof stepflow/answer-before-callback stepflow/answer-missing stepflow/answered-twice stepflow/attempt stepflow/before-initialize stepflow/before-initialized stepflow/blank-line stepflow/blob-id stepflow/blob-unknown stepflow/call-failed stepflow/callback-answer-refused stepflow/callback-outside-execute stepflow/component-object stepflow/content-type stepflow/crlf stepflow/duplicate-id stepflow/duplicate-key stepflow/error-code stepflow/error-message stepflow/error-shape stepflow/event-after-answer stepflow/id-range stepflow/id-type stepflow/id-type-changed stepflow/initialize-unanswered stepflow/initialized-early stepflow/lone-cr stepflow/long-answer stepflow/long-line stepflow/malformed stepflow/missing-id stepflow/missing-param stepflow/missing-result stepflow/mixed-releases stepflow/not-a-message stepflow/not-an-object stepflow/not-json stepflow/not-text stepflow/notification-answered stepflow/notification-with-id stepflow/null-beside stepflow/null-id stepflow/null-id-error stepflow/null-result stepflow/open-limit stepflow/orphan stepflow/out-of-order stepflow/param-type stepflow/params-missing stepflow/params-type stepflow/refused stepflow/request-in-body stepflow/request-without-id stepflow/result-and-error stepflow/result-beside-method stepflow/result-type stepflow/second-initialize stepflow/span-id stepflow/stream-ends-early stepflow/subprotocol-not-offered stepflow/trace-id stepflow/trailing-bytes stepflow/unanswered stepflow/unknown-method stepflow/unknown-notification stepflow/upgrade-refused stepflow/upgrade-unanswered stepflow/version-mismatch stepflow/version-missing stepflow/version-wrong stepflow/wrong-answer stepflow/wrong-direction telequick/audio-after-end telequick/audio-empty telequick/audio-order telequick/audio-size telequick/call-failed telequick/call-over telequick/call-too-early telequick/codec-change telequick/compat-above-version telequick/cut-short telequick/dial-action telequick/disputed-id telequick/dtmf-args telequick/early-statistics telequick/envelope-overrun telequick/error-without-message telequick/event-after-hangup telequick/event-order telequick/field-overrun telequick/flavour-change telequick/frame-length telequick/frame-limit telequick/gateway-verb telequick/hold-order telequick/inclusive-length telequick/invalid-text telequick/jitter-range telequick/legacy-id telequick/malformed telequick/message-without-error telequick/missing-fields telequick/misspelt-id telequick/mos-range telequick/negative-size telequick/newer-version telequick/no-end-of-stream telequick/no-subscription telequick/not-finite telequick/nul-in-string telequick/odd-bool telequick/older-version telequick/open-limit telequick/peer-limit telequick/seq-back telequick/seq-gap telequick/shared-stream telequick/string-length telequick/subprotocol-not-offered telequick/time-order telequick/too-deep telequick/trailing-bytes telequick/unanswered telequick/unasked telequick/unexpected-tail telequick/unframed-answer telequick/unknown-call telequick/unknown-codec telequick/unknown-enum telequick/unknown-event telequick/unknown-method telequick/unreadable-version telequick/upgrade-refused telequick/upgrade-unanswered telequick/vector-count telequick/verb-too-early telequick/wrong-client telequick/wrong-stream" -- "${cur}"))
                    return 0
                    ;;
                --secret-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-open)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "mermaid html otlp pcapng har sql" -- "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -W "mermaid html otlp pcapng har sql" -- "${cur}"))
                    return 0
                    ;;
                --engine)
                    COMPREPLY=($(compgen -W "duckdb clickhouse" -- "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --otlp)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help)
            opts="-q -v -h --no-pager --color --quiet --verbose --config --help decode lint stat watch diff export encode make proxy record redact replay send shrink stub snapshot test demo wrap unwrap protocol telequick oracle sael mcp config completions man help protocols inputs lines where operations describe json scale rules faults recording live clients agents scripts words ci limits exit"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__agents)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__ci)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__clients)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__completions)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__config)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__decode)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__demo)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__describe)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__diff)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__encode)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__exit)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__export)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__faults)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__help)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__inputs)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__json)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__limits)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__lines)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__lint)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__live)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__make)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__man)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__mcp)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__operations)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__oracle)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__protocol)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__protocols)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__proxy)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__record)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__recording)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__redact)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__replay)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__rules)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__sael)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__scale)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__scripts)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__send)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__shrink)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__snapshot)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__stat)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__stub)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__telequick)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__test)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__unwrap)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__watch)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__where)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__words)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__help__subcmd__wrap)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__lint)
            opts="-p -f -o -q -v -h --from --dir --c2s --s2c --follow --merge --clock --jobs --part-size --port --reassembly-limit --protocol --framing --length-mode --schema --struct --signature --max-message --max-depth --no-resync --where --dialect --allow --deny --secret-file --max-open --fail-on --rules --explain --format --report --stall --most --output --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --from)
                    COMPREPLY=($(compgen -W "auto raw hex xxd base64 jsonl text dump literal log recording pcap har page strace curl socat ngrep tcpflow tcpdump tshark" -- "${cur}"))
                    return 0
                    ;;
                --dir)
                    COMPREPLY=($(compgen -W "c2s s2c" -- "${cur}"))
                    return 0
                    ;;
                --c2s)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --s2c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --clock)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --part-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --reassembly-limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --protocol)
                    COMPREPLY=($(compgen -W "saikuro oracle sael stepflow telequick mcp lsp acp jsonrpc dap cdp nvim i3" -- "${cur}"))
                    return 0
                    ;;
                -p)
                    COMPREPLY=($(compgen -W "saikuro oracle sael stepflow telequick mcp lsp acp jsonrpc dap cdp nvim i3" -- "${cur}"))
                    return 0
                    ;;
                --framing)
                    COMPREPLY=($(compgen -W "auto lines prefix method bare content-length websocket http http3 values header message fields" -- "${cur}"))
                    return 0
                    ;;
                --length-mode)
                    COMPREPLY=($(compgen -W "auto exclusive inclusive" -- "${cur}"))
                    return 0
                    ;;
                --schema)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --struct)
                    COMPREPLY=($(compgen -W "AbortBulkRequest AllocateWtRequest AllocateWtResponse AnswerIncomingCallRequest AnswerIncomingCallResponse AudioFrame BargeRequest BucketActionRequest BucketActionResponse BucketCallList BucketInfo BucketRequest BulkRequest BulkResponse CallEvent Empty EventStreamRequest ExecuteDialplanRequest ExecuteDialplanResponse GetIncomingCallsRequest GetIncomingCallsResponse IncomingCallInfo ListBucketsResponse OriginateRequest OriginateResponse SetInboundRoutingRequest SuperviseSubscribeRequest SuperviseSubscribeResponse TerminateRequest TerminateResponse" -- "${cur}"))
                    return 0
                    ;;
                --signature)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-message)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --where)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dialect)
                    COMPREPLY=($(compgen -W "document peers both" -- "${cur}"))
                    return 0
                    ;;
                --allow)
                    COMPREPLY=($(compgen -W "acp/answered-twice acp/batch acp/before-initialize acp/blank-line acp/call-failed acp/cancel-ignored acp/cancel-unknown acp/cancelled-unanswered acp/capability-missing acp/connection-missing acp/duplicate-id acp/duplicate-key acp/error-shape acp/id-fraction acp/id-range acp/id-type acp/id-type-changed acp/line-zero acp/malformed acp/method-type acp/missing-id acp/missing-param acp/not-a-message acp/not-json acp/notification-with-id acp/null-beside acp/null-id acp/open-limit acp/orphan acp/param-type acp/params-shape acp/permission-after-cancel acp/prompt-in-turn acp/refused acp/relative-path acp/request-without-id acp/result-and-error acp/result-beside-method acp/result-type acp/second-initialize acp/session-closed acp/session-ended acp/status-back acp/subprotocol-not-offered acp/terminal-released acp/tool-call-again acp/tool-call-running acp/unanswered acp/unknown-method acp/unknown-mode acp/unknown-option acp/unknown-session acp/unknown-terminal acp/unknown-tool-call acp/unknown-update acp/unknown-version acp/update-outside-turn acp/upgrade-refused acp/upgrade-unanswered acp/version acp/version-raised acp/wrong-direction cdp/answered-twice cdp/call-failed cdp/id-reused cdp/malformed cdp/no-match cdp/not-checked cdp/open-limit cdp/orphan cdp/subprotocol-not-offered cdp/unanswered cdp/upgrade-refused cdp/upgrade-unanswered cdp/wrong-direction cdp/wrong-type dap/after-terminated dap/answered-twice dap/call-failed dap/configuration-done-early dap/debugging-not-announced dap/id-reused dap/initialize-first dap/initialize-once dap/malformed dap/no-match dap/not-checked dap/open-limit dap/orphan dap/other-command dap/reverse-not-announced dap/reverse-wrong-side dap/seq-order dap/subprotocol-not-offered dap/unanswered dap/upgrade-refused dap/upgrade-unanswered dap/wrong-direction dap/wrong-side dap/wrong-type i3/answered-twice i3/call-failed i3/id-reused i3/malformed i3/no-match i3/not-checked i3/open-limit i3/orphan i3/subprotocol-not-offered i3/unanswered i3/upgrade-refused i3/upgrade-unanswered i3/wrong-direction i3/wrong-type jsonrpc/answered-twice jsonrpc/batch-answer jsonrpc/batch-empty jsonrpc/batch-member jsonrpc/blank-line jsonrpc/call-failed jsonrpc/duplicate-id jsonrpc/duplicate-key jsonrpc/error-shape jsonrpc/id-fraction jsonrpc/id-range jsonrpc/id-type jsonrpc/id-type-changed jsonrpc/malformed jsonrpc/method-type jsonrpc/missing-id jsonrpc/null-beside jsonrpc/null-id jsonrpc/open-limit jsonrpc/orphan jsonrpc/params-shape jsonrpc/refused jsonrpc/reserved-code jsonrpc/reserved-method jsonrpc/result-and-error jsonrpc/result-beside-method jsonrpc/stack-trace jsonrpc/subprotocol-not-offered jsonrpc/unanswered jsonrpc/upgrade-refused jsonrpc/upgrade-unanswered jsonrpc/version lsp/answered-twice lsp/batch lsp/call-failed lsp/cancel-unknown lsp/cancelled-unanswered lsp/change-kind lsp/charset lsp/client-capability lsp/configuration-length lsp/document-not-open lsp/document-opened-twice lsp/document-version lsp/duplicate-id lsp/duplicate-key lsp/error-shape lsp/exit-without-shutdown lsp/header-line-end lsp/header-spelling lsp/id-fraction lsp/id-range lsp/id-type lsp/id-type-changed lsp/initialized-missing lsp/length-repeated lsp/malformed lsp/method-type lsp/missing-id lsp/missing-param lsp/notification-before-initialize lsp/notification-with-id lsp/null-beside lsp/null-id lsp/open-limit lsp/orphan lsp/param-type lsp/params-shape lsp/partial-result lsp/position lsp/progress-end lsp/progress-order lsp/progress-token lsp/range lsp/request-after-shutdown lsp/request-before-initialize lsp/request-not-open lsp/request-without-id lsp/result-and-error lsp/result-beside-method lsp/result-type lsp/second-initialize lsp/selection-range lsp/semantic-tokens lsp/server-capability lsp/subprotocol-not-offered lsp/unanswered lsp/unknown-method lsp/upgrade-refused lsp/upgrade-unanswered lsp/version lsp/wrong-direction mcp/answer-after-cancel mcp/answered-twice mcp/batch mcp/batch-answer mcp/batch-empty mcp/batch-member mcp/before-initialize mcp/before-initialized mcp/blank-line mcp/call-failed mcp/cancel-initialize mcp/cancel-unknown mcp/cancelled-unanswered mcp/capability-missing mcp/content-type mcp/duplicate-id mcp/duplicate-key mcp/elicitation-schema mcp/era-mixed mcp/error-shape mcp/header-line-end mcp/header-mismatch mcp/id-fraction mcp/id-range mcp/id-type mcp/id-type-changed mcp/initialized-early mcp/input-not-asked mcp/input-request mcp/log-level mcp/malformed mcp/meta-missing mcp/method-type mcp/missing-content mcp/missing-id mcp/missing-param mcp/not-a-message mcp/not-in-version mcp/not-json mcp/notification-with-id mcp/null-beside mcp/null-id mcp/open-limit mcp/orphan mcp/param-type mcp/params-shape mcp/progress-after-answer mcp/progress-order mcp/progress-token mcp/progress-token-shared mcp/refused mcp/request-state mcp/request-without-id mcp/result-and-error mcp/result-beside-method mcp/result-type mcp/result-type-missing mcp/second-initialize mcp/server-request mcp/session-ended mcp/session-missing mcp/subprotocol-not-offered mcp/subscription-acknowledged mcp/subscription-id mcp/subscription-kind mcp/tool-arguments mcp/tool-changed mcp/tool-result mcp/unanswered mcp/unknown-cursor mcp/unknown-method mcp/unknown-tool mcp/unknown-version mcp/upgrade-refused mcp/upgrade-unanswered mcp/version mcp/version-header mcp/version-lowered mcp/wrong-direction nvim/answered-twice nvim/call-failed nvim/id-reused nvim/malformed nvim/no-match nvim/not-checked nvim/open-limit nvim/orphan nvim/subprotocol-not-offered nvim/unanswered nvim/upgrade-refused nvim/upgrade-unanswered nvim/wrong-direction nvim/wrong-type oracle/ack-id oracle/alive-after-refusal oracle/answer-after-eof oracle/answer-id oracle/backtrace oracle/blank-line oracle/call-failed oracle/calldata-surplus oracle/calldata-type oracle/connection-cr oracle/connection-shell oracle/crlf oracle/cut-line oracle/desync oracle/died-in-invoke oracle/error-code oracle/error-code-range oracle/error-shape oracle/extra-line oracle/felt-form oracle/felt-range oracle/felt-spelling oracle/first-byte oracle/first-not-ready oracle/id-form oracle/id-order oracle/invoke-after-shutdown oracle/invoke-no-id oracle/invoke-params oracle/invoke-unacknowledged oracle/left-idle oracle/lone-cr oracle/lone-surrogate oracle/long-line oracle/malformed oracle/nesting oracle/no-ready oracle/no-result oracle/no-shutdown oracle/not-a-message oracle/not-an-object oracle/not-json oracle/not-unicode oracle/null-id oracle/open-limit oracle/oracle-asks oracle/output-after-shutdown oracle/overlap oracle/positional-params oracle/ready-params oracle/ready-twice oracle/repeated-key oracle/result-and-error oracle/result-shape oracle/result-surplus oracle/result-type oracle/shutdown-id oracle/shutdown-params oracle/speaks-before-ready oracle/stray-ack oracle/subprotocol-not-offered oracle/trailing-bytes oracle/unanswered oracle/unknown-member oracle/unknown-method oracle/upgrade-refused oracle/upgrade-unanswered oracle/version sael/ack-undefined sael/after-bye sael/anonymous-effect sael/anonymous-resume sael/anonymous-subscription sael/answer-after-end sael/answer-kind sael/answer-unasked sael/auth-type sael/bind-nothing sael/bind-without-tool sael/call-both sael/call-empty sael/call-failed sael/cancel-kind sael/cancel-late sael/cancel-unknown sael/capability-denied sael/capability-ignored sael/client-silent sael/cost-over-limit sael/delta-mixed sael/delta-snapshot sael/delta-undeclared sael/dropped-call sael/dropped-subscription sael/error-code sael/error-code-extra sael/event-after-unsubscribe sael/event-early sael/field-missing sael/filter-odd sael/header-form sael/heartbeat-echo sael/heartbeat-late sael/heartbeat-unanswered sael/heartbeat-unit sael/hey-again sael/hey-answer sael/hey-first sael/hey-unanswered sael/input-unchecked sael/item-content sael/json-in-binary sael/kind-direction sael/kind-unknown sael/login-error-seq sael/login-refused sael/malformed sael/mask sael/msgpack-unagreed sael/open-limit sael/parallel-shape sael/refused-goes-on sael/replay-count sael/replay-lost sael/replay-many sael/replay-old sael/replay-twice sael/resume-ahead sael/resume-unknown sael/scope-differs sael/seq-missing sael/seq-not-rising sael/seq-reused sael/seq-value sael/span-id sael/stage-kind sael/stage-unsupported sael/stage-value sael/still-sending sael/stream-ends-with-result sael/stream-not-streamed sael/stream-survived sael/stream-undeclared sael/subprotocol-name sael/subprotocol-not-offered sael/subscription-id sael/subscription-unknown sael/text-despite-msgpack sael/token-claims sael/token-client sael/token-expired sael/token-exposed sael/token-in-clear sael/token-issued-later sael/token-long-lived sael/token-not-yet sael/token-shape sael/token-signature sael/tool-cost sael/tool-effect sael/tool-unlisted sael/trace-dropped sael/trace-id sael/trace-mismatch sael/unanswered sael/upgrade-refused sael/upgrade-unanswered sael/version-missing sael/version-mixed sael/version-unknown sael/window-exceeded sael/window-value saikuro/ack-namespace saikuro/after-end saikuro/after-own-close saikuro/ambiguous-id saikuro/announce-late saikuro/announce-refused saikuro/answer-id-form saikuro/args-unfit saikuro/bad-error saikuro/bad-field saikuro/bad-id saikuro/bad-schema saikuro/bad-target saikuro/bad-text saikuro/bad-version saikuro/batch-count saikuro/batch-duplicate-id saikuro/batch-ok saikuro/batch-order saikuro/batch-without-target saikuro/call-failed saikuro/capability-missing saikuro/capability-undeclared saikuro/cast-answered saikuro/cast-refused saikuro/channel-item-refused saikuro/channel-not-closed saikuro/document-capability saikuro/document-error-code saikuro/duplicate-key saikuro/empty-batch saikuro/empty-frame saikuro/error-missing saikuro/extension-value saikuro/frame-too-long saikuro/id-reused saikuro/item-from-opener saikuro/items-unacknowledged saikuro/late-answer saikuro/log-answered saikuro/malformed saikuro/mask saikuro/missing-args saikuro/missing-id saikuro/mixed-error-codes saikuro/namespace-twice saikuro/non-string-key saikuro/not-messagepack saikuro/ok-with-error saikuro/open-limit saikuro/out-of-order saikuro/own-namespace saikuro/peers-capability saikuro/peers-error-code saikuro/peers-type saikuro/random-id saikuro/result-missing saikuro/result-unfit saikuro/schema-kind saikuro/schema-version saikuro/second-answer saikuro/seq-gap saikuro/seq-repeated saikuro/seq-start saikuro/stream-answered saikuro/stream-not-aborted saikuro/stream-unfinished saikuro/subprotocol-not-offered saikuro/text-frame saikuro/trailing-bytes saikuro/unanswered saikuro/unknown-error-code saikuro/unknown-id saikuro/unknown-message saikuro/unknown-type saikuro/unread-version saikuro/upgrade-refused saikuro/upgrade-unanswered stepflow/accept stepflow/answer-after-eof stepflow/answer-before-callback stepflow/answer-missing stepflow/answered-twice stepflow/attempt stepflow/before-initialize stepflow/before-initialized stepflow/blank-line stepflow/blob-id stepflow/blob-unknown stepflow/call-failed stepflow/callback-answer-refused stepflow/callback-outside-execute stepflow/component-object stepflow/content-type stepflow/crlf stepflow/duplicate-id stepflow/duplicate-key stepflow/error-code stepflow/error-message stepflow/error-shape stepflow/event-after-answer stepflow/id-range stepflow/id-type stepflow/id-type-changed stepflow/initialize-unanswered stepflow/initialized-early stepflow/lone-cr stepflow/long-answer stepflow/long-line stepflow/malformed stepflow/missing-id stepflow/missing-param stepflow/missing-result stepflow/mixed-releases stepflow/not-a-message stepflow/not-an-object stepflow/not-json stepflow/not-text stepflow/notification-answered stepflow/notification-with-id stepflow/null-beside stepflow/null-id stepflow/null-id-error stepflow/null-result stepflow/open-limit stepflow/orphan stepflow/out-of-order stepflow/param-type stepflow/params-missing stepflow/params-type stepflow/refused stepflow/request-in-body stepflow/request-without-id stepflow/result-and-error stepflow/result-beside-method stepflow/result-type stepflow/second-initialize stepflow/span-id stepflow/stream-ends-early stepflow/subprotocol-not-offered stepflow/trace-id stepflow/trailing-bytes stepflow/unanswered stepflow/unknown-method stepflow/unknown-notification stepflow/upgrade-refused stepflow/upgrade-unanswered stepflow/version-mismatch stepflow/version-missing stepflow/version-wrong stepflow/wrong-answer stepflow/wrong-direction telequick/audio-after-end telequick/audio-empty telequick/audio-order telequick/audio-size telequick/call-failed telequick/call-over telequick/call-too-early telequick/codec-change telequick/compat-above-version telequick/cut-short telequick/dial-action telequick/disputed-id telequick/dtmf-args telequick/early-statistics telequick/envelope-overrun telequick/error-without-message telequick/event-after-hangup telequick/event-order telequick/field-overrun telequick/flavour-change telequick/frame-length telequick/frame-limit telequick/gateway-verb telequick/hold-order telequick/inclusive-length telequick/invalid-text telequick/jitter-range telequick/legacy-id telequick/malformed telequick/message-without-error telequick/missing-fields telequick/misspelt-id telequick/mos-range telequick/negative-size telequick/newer-version telequick/no-end-of-stream telequick/no-subscription telequick/not-finite telequick/nul-in-string telequick/odd-bool telequick/older-version telequick/open-limit telequick/peer-limit telequick/seq-back telequick/seq-gap telequick/shared-stream telequick/string-length telequick/subprotocol-not-offered telequick/time-order telequick/too-deep telequick/trailing-bytes telequick/unanswered telequick/unasked telequick/unexpected-tail telequick/unframed-answer telequick/unknown-call telequick/unknown-codec telequick/unknown-enum telequick/unknown-event telequick/unknown-method telequick/unreadable-version telequick/upgrade-refused telequick/upgrade-unanswered telequick/vector-count telequick/verb-too-early telequick/wrong-client telequick/wrong-stream" -- "${cur}"))
                    return 0
                    ;;
                --deny)
                    COMPREPLY=($(compgen -W "acp/answered-twice acp/batch acp/before-initialize acp/blank-line acp/call-failed acp/cancel-ignored acp/cancel-unknown acp/cancelled-unanswered acp/capability-missing acp/connection-missing acp/duplicate-id acp/duplicate-key acp/error-shape acp/id-fraction acp/id-range acp/id-type acp/id-type-changed acp/line-zero acp/malformed acp/method-type acp/missing-id acp/missing-param acp/not-a-message acp/not-json acp/notification-with-id acp/null-beside acp/null-id acp/open-limit acp/orphan acp/param-type acp/params-shape acp/permission-after-cancel acp/prompt-in-turn acp/refused acp/relative-path acp/request-without-id acp/result-and-error acp/result-beside-method acp/result-type acp/second-initialize acp/session-closed acp/session-ended acp/status-back acp/subprotocol-not-offered acp/terminal-released acp/tool-call-again acp/tool-call-running acp/unanswered acp/unknown-method acp/unknown-mode acp/unknown-option acp/unknown-session acp/unknown-terminal acp/unknown-tool-call acp/unknown-update acp/unknown-version acp/update-outside-turn acp/upgrade-refused acp/upgrade-unanswered acp/version acp/version-raised acp/wrong-direction cdp/answered-twice cdp/call-failed cdp/id-reused cdp/malformed cdp/no-match cdp/not-checked cdp/open-limit cdp/orphan cdp/subprotocol-not-offered cdp/unanswered cdp/upgrade-refused cdp/upgrade-unanswered cdp/wrong-direction cdp/wrong-type dap/after-terminated dap/answered-twice dap/call-failed dap/configuration-done-early dap/debugging-not-announced dap/id-reused dap/initialize-first dap/initialize-once dap/malformed dap/no-match dap/not-checked dap/open-limit dap/orphan dap/other-command dap/reverse-not-announced dap/reverse-wrong-side dap/seq-order dap/subprotocol-not-offered dap/unanswered dap/upgrade-refused dap/upgrade-unanswered dap/wrong-direction dap/wrong-side dap/wrong-type i3/answered-twice i3/call-failed i3/id-reused i3/malformed i3/no-match i3/not-checked i3/open-limit i3/orphan i3/subprotocol-not-offered i3/unanswered i3/upgrade-refused i3/upgrade-unanswered i3/wrong-direction i3/wrong-type jsonrpc/answered-twice jsonrpc/batch-answer jsonrpc/batch-empty jsonrpc/batch-member jsonrpc/blank-line jsonrpc/call-failed jsonrpc/duplicate-id jsonrpc/duplicate-key jsonrpc/error-shape jsonrpc/id-fraction jsonrpc/id-range jsonrpc/id-type jsonrpc/id-type-changed jsonrpc/malformed jsonrpc/method-type jsonrpc/missing-id jsonrpc/null-beside jsonrpc/null-id jsonrpc/open-limit jsonrpc/orphan jsonrpc/params-shape jsonrpc/refused jsonrpc/reserved-code jsonrpc/reserved-method jsonrpc/result-and-error jsonrpc/result-beside-method jsonrpc/stack-trace jsonrpc/subprotocol-not-offered jsonrpc/unanswered jsonrpc/upgrade-refused jsonrpc/upgrade-unanswered jsonrpc/version lsp/answered-twice lsp/batch lsp/call-failed lsp/cancel-unknown lsp/cancelled-unanswered lsp/change-kind lsp/charset lsp/client-capability lsp/configuration-length lsp/document-not-open lsp/document-opened-twice lsp/document-version lsp/duplicate-id lsp/duplicate-key lsp/error-shape lsp/exit-without-shutdown lsp/header-line-end lsp/header-spelling lsp/id-fraction lsp/id-range lsp/id-type lsp/id-type-changed lsp/initialized-missing lsp/length-repeated lsp/malformed lsp/method-type lsp/missing-id lsp/missing-param lsp/notification-before-initialize lsp/notification-with-id lsp/null-beside lsp/null-id lsp/open-limit lsp/orphan lsp/param-type lsp/params-shape lsp/partial-result lsp/position lsp/progress-end lsp/progress-order lsp/progress-token lsp/range lsp/request-after-shutdown lsp/request-before-initialize lsp/request-not-open lsp/request-without-id lsp/result-and-error lsp/result-beside-method lsp/result-type lsp/second-initialize lsp/selection-range lsp/semantic-tokens lsp/server-capability lsp/subprotocol-not-offered lsp/unanswered lsp/unknown-method lsp/upgrade-refused lsp/upgrade-unanswered lsp/version lsp/wrong-direction mcp/answer-after-cancel mcp/answered-twice mcp/batch mcp/batch-answer mcp/batch-empty mcp/batch-member mcp/before-initialize mcp/before-initialized mcp/blank-line mcp/call-failed mcp/cancel-initialize mcp/cancel-unknown mcp/cancelled-unanswered mcp/capability-missing mcp/content-type mcp/duplicate-id mcp/duplicate-key mcp/elicitation-schema mcp/era-mixed mcp/error-shape mcp/header-line-end mcp/header-mismatch mcp/id-fraction mcp/id-range mcp/id-type mcp/id-type-changed mcp/initialized-early mcp/input-not-asked mcp/input-request mcp/log-level mcp/malformed mcp/meta-missing mcp/method-type mcp/missing-content mcp/missing-id mcp/missing-param mcp/not-a-message mcp/not-in-version mcp/not-json mcp/notification-with-id mcp/null-beside mcp/null-id mcp/open-limit mcp/orphan mcp/param-type mcp/params-shape mcp/progress-after-answer mcp/progress-order mcp/progress-token mcp/progress-token-shared mcp/refused mcp/request-state mcp/request-without-id mcp/result-and-error mcp/result-beside-method mcp/result-type mcp/result-type-missing mcp/second-initialize mcp/server-request mcp/session-ended mcp/session-missing mcp/subprotocol-not-offered mcp/subscription-acknowledged mcp/subscription-id mcp/subscription-kind mcp/tool-arguments mcp/tool-changed mcp/tool-result mcp/unanswered mcp/unknown-cursor mcp/unknown-method mcp/unknown-tool mcp/unknown-version mcp/upgrade-refused mcp/upgrade-unanswered mcp/version mcp/version-header mcp/version-lowered mcp/wrong-direction nvim/answered-twice nvim/call-failed nvim/id-reused nvim/malformed nvim/no-match nvim/not-checked nvim/open-limit nvim/orphan nvim/subprotocol-not-offered nvim/unanswered nvim/upgrade-refused nvim/upgrade-unanswered nvim/wrong-direction nvim/wrong-type oracle/ack-id oracle/alive-after-refusal oracle/answer-after-eof oracle/answer-id oracle/backtrace oracle/blank-line oracle/call-failed oracle/calldata-surplus oracle/calldata-type oracle/connection-cr oracle/connection-shell oracle/crlf oracle/cut-line oracle/desync oracle/died-in-invoke oracle/error-code oracle/error-code-range oracle/error-shape oracle/extra-line oracle/felt-form oracle/felt-range oracle/felt-spelling oracle/first-byte oracle/first-not-ready oracle/id-form oracle/id-order oracle/invoke-after-shutdown oracle/invoke-no-id oracle/invoke-params oracle/invoke-unacknowledged oracle/left-idle oracle/lone-cr oracle/lone-surrogate oracle/long-line oracle/malformed oracle/nesting oracle/no-ready oracle/no-result oracle/no-shutdown oracle/not-a-message oracle/not-an-object oracle/not-json oracle/not-unicode oracle/null-id oracle/open-limit oracle/oracle-asks oracle/output-after-shutdown oracle/overlap oracle/positional-params oracle/ready-params oracle/ready-twice oracle/repeated-key oracle/result-and-error oracle/result-shape oracle/result-surplus oracle/result-type oracle/shutdown-id oracle/shutdown-params oracle/speaks-before-ready oracle/stray-ack oracle/subprotocol-not-offered oracle/trailing-bytes oracle/unanswered oracle/unknown-member oracle/unknown-method oracle/upgrade-refused oracle/upgrade-unanswered oracle/version sael/ack-undefined sael/after-bye sael/anonymous-effect sael/anonymous-resume sael/anonymous-subscription sael/answer-after-end sael/answer-kind sael/answer-unasked sael/auth-type sael/bind-nothing sael/bind-without-tool sael/call-both sael/call-empty sael/call-failed sael/cancel-kind sael/cancel-late sael/cancel-unknown sael/capability-denied sael/capability-ignored sael/client-silent sael/cost-over-limit sael/delta-mixed sael/delta-snapshot sael/delta-undeclared sael/dropped-call sael/dropped-subscription sael/error-code sael/error-code-extra sael/event-after-unsubscribe sael/event-early sael/field-missing sael/filter-odd sael/header-form sael/heartbeat-echo sael/heartbeat-late sael/heartbeat-unanswered sael/heartbeat-unit sael/hey-again sael/hey-answer sael/hey-first sael/hey-unanswered sael/input-unchecked sael/item-content sael/json-in-binary sael/kind-direction sael/kind-unknown sael/login-error-seq sael/login-refused sael/malformed sael/mask sael/msgpack-unagreed sael/open-limit sael/parallel-shape sael/refused-goes-on sael/replay-count sael/replay-lost sael/replay-many sael/replay-old sael/replay-twice sael/resume-ahead sael/resume-unknown sael/scope-differs sael/seq-missing sael/seq-not-rising sael/seq-reused sael/seq-value sael/span-id sael/stage-kind sael/stage-unsupported sael/stage-value sael/still-sending sael/stream-ends-with-result sael/stream-not-streamed sael/stream-survived sael/stream-undeclared sael/subprotocol-name sael/subprotocol-not-offered sael/subscription-id sael/subscription-unknown sael/text-despite-msgpack sael/token-claims sael/token-client sael/token-expired sael/token-exposed sael/token-in-clear sael/token-issued-later sael/token-long-lived sael/token-not-yet sael/token-shape sael/token-signature sael/tool-cost sael/tool-effect sael/tool-unlisted sael/trace-dropped sael/trace-id sael/trace-mismatch sael/unanswered sael/upgrade-refused sael/upgrade-unanswered sael/version-missing sael/version-mixed sael/version-unknown sael/window-exceeded sael/window-value saikuro/ack-namespace saikuro/after-end saikuro/after-own-close saikuro/ambiguous-id saikuro/announce-late saikuro/announce-refused saikuro/answer-id-form saikuro/args-unfit saikuro/bad-error saikuro/bad-field saikuro/bad-id saikuro/bad-schema saikuro/bad-target saikuro/bad-text saikuro/bad-version saikuro/batch-count saikuro/batch-duplicate-id saikuro/batch-ok saikuro/batch-order saikuro/batch-without-target saikuro/call-failed saikuro/capability-missing saikuro/capability-undeclared saikuro/cast-answered saikuro/cast-refused saikuro/channel-item-refused saikuro/channel-not-closed saikuro/document-capability saikuro/document-error-code saikuro/duplicate-key saikuro/empty-batch saikuro/empty-frame saikuro/error-missing saikuro/extension-value saikuro/frame-too-long saikuro/id-reused saikuro/item-from-opener saikuro/items-unacknowledged saikuro/late-answer saikuro/log-answered saikuro/malformed saikuro/mask saikuro/missing-args saikuro/missing-id saikuro/mixed-error-codes saikuro/namespace-twice saikuro/non-string-key saikuro/not-messagepack saikuro/ok-with-error saikuro/open-limit saikuro/out-of-order saikuro/own-namespace saikuro/peers-capability saikuro/peers-error-code saikuro/peers-type saikuro/random-id saikuro/result-missing saikuro/result-unfit saikuro/schema-kind saikuro/schema-version saikuro/second-answer saikuro/seq-gap saikuro/seq-repeated saikuro/seq-start saikuro/stream-answered saikuro/stream-not-aborted saikuro/stream-unfinished saikuro/subprotocol-not-offered saikuro/text-frame saikuro/trailing-bytes saikuro/unanswered saikuro/unknown-error-code saikuro/unknown-id saikuro/unknown-message saikuro/unknown-type saikuro/unread-version saikuro/upgrade-refused saikuro/upgrade-unanswered stepflow/accept stepflow/answer-after-eof stepflow/answer-before-callback stepflow/answer-missing stepflow/answered-twice stepflow/attempt stepflow/before-initialize stepflow/before-initialized stepflow/blank-line stepflow/blob-id stepflow/blob-unknown stepflow/call-failed stepflow/callback-answer-refused stepflow/callback-outside-execute stepflow/component-object stepflow/content-type stepflow/crlf stepflow/duplicate-id stepflow/duplicate-key stepflow/error-code stepflow/error-message stepflow/error-shape stepflow/event-after-answer stepflow/id-range stepflow/id-type stepflow/id-type-changed stepflow/initialize-unanswered stepflow/initialized-early stepflow/lone-cr stepflow/long-answer stepflow/long-line stepflow/malformed stepflow/missing-id stepflow/missing-param stepflow/missing-result stepflow/mixed-releases stepflow/not-a-message stepflow/not-an-object stepflow/not-json stepflow/not-text stepflow/notification-answered stepflow/notification-with-id stepflow/null-beside stepflow/null-id stepflow/null-id-error stepflow/null-result stepflow/open-limit stepflow/orphan stepflow/out-of-order stepflow/param-type stepflow/params-missing stepflow/params-type stepflow/refused stepflow/request-in-body stepflow/request-without-id stepflow/result-and-error stepflow/result-beside-method stepflow/result-type stepflow/second-initialize stepflow/span-id stepflow/stream-ends-early stepflow/subprotocol-not-offered stepflow/trace-id stepflow/trailing-bytes stepflow/unanswered stepflow/unknown-method stepflow/unknown-notification stepflow/upgrade-refused stepflow/upgrade-unanswered stepflow/version-mismatch stepflow/version-missing stepflow/version-wrong stepflow/wrong-answer stepflow/wrong-direction telequick/audio-after-end telequick/audio-empty telequick/audio-order telequick/audio-size telequick/call-failed telequick/call-over telequick/call-too-early telequick/codec-change telequick/compat-above-version telequick/cut-short telequick/dial-action telequick/disputed-id telequick/dtmf-args telequick/early-statistics telequick/envelope-overrun telequick/error-without-message telequick/event-after-hangup telequick/event-order telequick/field-overrun telequick/flavour-change telequick/frame-length telequick/frame-limit telequick/gateway-verb telequick/hold-order telequick/inclusive-length telequick/invalid-text telequick/jitter-range telequick/legacy-id telequick/malformed telequick/message-without-error telequick/missing-fields telequick/misspelt-id telequick/mos-range telequick/negative-size telequick/newer-version telequick/no-end-of-stream telequick/no-subscription telequick/not-finite telequick/nul-in-string telequick/odd-bool telequick/older-version telequick/open-limit telequick/peer-limit telequick/seq-back telequick/seq-gap telequick/shared-stream telequick/string-length telequick/subprotocol-not-offered telequick/time-order telequick/too-deep telequick/trailing-bytes telequick/unanswered telequick/unasked telequick/unexpected-tail telequick/unframed-answer telequick/unknown-call telequick/unknown-codec telequick/unknown-enum telequick/unknown-event telequick/unknown-method telequick/unreadable-version telequick/upgrade-refused telequick/upgrade-unanswered telequick/vector-count telequick/verb-too-early telequick/wrong-client telequick/wrong-stream" -- "${cur}"))
                    return 0
                    ;;
                --secret-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-open)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fail-on)
                    COMPREPLY=($(compgen -W "info warning error never" -- "${cur}"))
                    return 0
                    ;;
                --explain)
                    COMPREPLY=($(compgen -W "acp/answered-twice acp/batch acp/before-initialize acp/blank-line acp/call-failed acp/cancel-ignored acp/cancel-unknown acp/cancelled-unanswered acp/capability-missing acp/connection-missing acp/duplicate-id acp/duplicate-key acp/error-shape acp/id-fraction acp/id-range acp/id-type acp/id-type-changed acp/line-zero acp/malformed acp/method-type acp/missing-id acp/missing-param acp/not-a-message acp/not-json acp/notification-with-id acp/null-beside acp/null-id acp/open-limit acp/orphan acp/param-type acp/params-shape acp/permission-after-cancel acp/prompt-in-turn acp/refused acp/relative-path acp/request-without-id acp/result-and-error acp/result-beside-method acp/result-type acp/second-initialize acp/session-closed acp/session-ended acp/status-back acp/subprotocol-not-offered acp/terminal-released acp/tool-call-again acp/tool-call-running acp/unanswered acp/unknown-method acp/unknown-mode acp/unknown-option acp/unknown-session acp/unknown-terminal acp/unknown-tool-call acp/unknown-update acp/unknown-version acp/update-outside-turn acp/upgrade-refused acp/upgrade-unanswered acp/version acp/version-raised acp/wrong-direction cdp/answered-twice cdp/call-failed cdp/id-reused cdp/malformed cdp/no-match cdp/not-checked cdp/open-limit cdp/orphan cdp/subprotocol-not-offered cdp/unanswered cdp/upgrade-refused cdp/upgrade-unanswered cdp/wrong-direction cdp/wrong-type dap/after-terminated dap/answered-twice dap/call-failed dap/configuration-done-early dap/debugging-not-announced dap/id-reused dap/initialize-first dap/initialize-once dap/malformed dap/no-match dap/not-checked dap/open-limit dap/orphan dap/other-command dap/reverse-not-announced dap/reverse-wrong-side dap/seq-order dap/subprotocol-not-offered dap/unanswered dap/upgrade-refused dap/upgrade-unanswered dap/wrong-direction dap/wrong-side dap/wrong-type i3/answered-twice i3/call-failed i3/id-reused i3/malformed i3/no-match i3/not-checked i3/open-limit i3/orphan i3/subprotocol-not-offered i3/unanswered i3/upgrade-refused i3/upgrade-unanswered i3/wrong-direction i3/wrong-type jsonrpc/answered-twice jsonrpc/batch-answer jsonrpc/batch-empty jsonrpc/batch-member jsonrpc/blank-line jsonrpc/call-failed jsonrpc/duplicate-id jsonrpc/duplicate-key jsonrpc/error-shape jsonrpc/id-fraction jsonrpc/id-range jsonrpc/id-type jsonrpc/id-type-changed jsonrpc/malformed jsonrpc/method-type jsonrpc/missing-id jsonrpc/null-beside jsonrpc/null-id jsonrpc/open-limit jsonrpc/orphan jsonrpc/params-shape jsonrpc/refused jsonrpc/reserved-code jsonrpc/reserved-method jsonrpc/result-and-error jsonrpc/result-beside-method jsonrpc/stack-trace jsonrpc/subprotocol-not-offered jsonrpc/unanswered jsonrpc/upgrade-refused jsonrpc/upgrade-unanswered jsonrpc/version lsp/answered-twice lsp/batch lsp/call-failed lsp/cancel-unknown lsp/cancelled-unanswered lsp/change-kind lsp/charset lsp/client-capability lsp/configuration-length lsp/document-not-open lsp/document-opened-twice lsp/document-version lsp/duplicate-id lsp/duplicate-key lsp/error-shape lsp/exit-without-shutdown lsp/header-line-end lsp/header-spelling lsp/id-fraction lsp/id-range lsp/id-type lsp/id-type-changed lsp/initialized-missing lsp/length-repeated lsp/malformed lsp/method-type lsp/missing-id lsp/missing-param lsp/notification-before-initialize lsp/notification-with-id lsp/null-beside lsp/null-id lsp/open-limit lsp/orphan lsp/param-type lsp/params-shape lsp/partial-result lsp/position lsp/progress-end lsp/progress-order lsp/progress-token lsp/range lsp/request-after-shutdown lsp/request-before-initialize lsp/request-not-open lsp/request-without-id lsp/result-and-error lsp/result-beside-method lsp/result-type lsp/second-initialize lsp/selection-range lsp/semantic-tokens lsp/server-capability lsp/subprotocol-not-offered lsp/unanswered lsp/unknown-method lsp/upgrade-refused lsp/upgrade-unanswered lsp/version lsp/wrong-direction mcp/answer-after-cancel mcp/answered-twice mcp/batch mcp/batch-answer mcp/batch-empty mcp/batch-member mcp/before-initialize mcp/before-initialized mcp/blank-line mcp/call-failed mcp/cancel-initialize mcp/cancel-unknown mcp/cancelled-unanswered mcp/capability-missing mcp/content-type mcp/duplicate-id mcp/duplicate-key mcp/elicitation-schema mcp/era-mixed mcp/error-shape mcp/header-line-end mcp/header-mismatch mcp/id-fraction mcp/id-range mcp/id-type mcp/id-type-changed mcp/initialized-early mcp/input-not-asked mcp/input-request mcp/log-level mcp/malformed mcp/meta-missing mcp/method-type mcp/missing-content mcp/missing-id mcp/missing-param mcp/not-a-message mcp/not-in-version mcp/not-json mcp/notification-with-id mcp/null-beside mcp/null-id mcp/open-limit mcp/orphan mcp/param-type mcp/params-shape mcp/progress-after-answer mcp/progress-order mcp/progress-token mcp/progress-token-shared mcp/refused mcp/request-state mcp/request-without-id mcp/result-and-error mcp/result-beside-method mcp/result-type mcp/result-type-missing mcp/second-initialize mcp/server-request mcp/session-ended mcp/session-missing mcp/subprotocol-not-offered mcp/subscription-acknowledged mcp/subscription-id mcp/subscription-kind mcp/tool-arguments mcp/tool-changed mcp/tool-result mcp/unanswered mcp/unknown-cursor mcp/unknown-method mcp/unknown-tool mcp/unknown-version mcp/upgrade-refused mcp/upgrade-unanswered mcp/version mcp/version-header mcp/version-lowered mcp/wrong-direction nvim/answered-twice nvim/call-failed nvim/id-reused nvim/malformed nvim/no-match nvim/not-checked nvim/open-limit nvim/orphan nvim/subprotocol-not-offered nvim/unanswered nvim/upgrade-refused nvim/upgrade-unanswered nvim/wrong-direction nvim/wrong-type oracle/ack-id oracle/alive-after-refusal oracle/answer-after-eof oracle/answer-id oracle/backtrace oracle/blank-line oracle/call-failed oracle/calldata-surplus oracle/calldata-type oracle/connection-cr oracle/connection-shell oracle/crlf oracle/cut-line oracle/desync oracle/died-in-invoke oracle/error-code oracle/error-code-range oracle/error-shape oracle/extra-line oracle/felt-form oracle/felt-range oracle/felt-spelling oracle/first-byte oracle/first-not-ready oracle/id-form oracle/id-order oracle/invoke-after-shutdown oracle/invoke-no-id oracle/invoke-params oracle/invoke-unacknowledged oracle/left-idle oracle/lone-cr oracle/lone-surrogate oracle/long-line oracle/malformed oracle/nesting oracle/no-ready oracle/no-result oracle/no-shutdown oracle/not-a-message oracle/not-an-object oracle/not-json oracle/not-unicode oracle/null-id oracle/open-limit oracle/oracle-asks oracle/output-after-shutdown oracle/overlap oracle/positional-params oracle/ready-params oracle/ready-twice oracle/repeated-key oracle/result-and-error oracle/result-shape oracle/result-surplus oracle/result-type oracle/shutdown-id oracle/shutdown-params oracle/speaks-before-ready oracle/stray-ack oracle/subprotocol-not-offered oracle/trailing-bytes oracle/unanswered oracle/unknown-member oracle/unknown-method oracle/upgrade-refused oracle/upgrade-unanswered oracle/version sael/ack-undefined sael/after-bye sael/anonymous-effect sael/anonymous-resume sael/anonymous-subscription sael/answer-after-end sael/answer-kind sael/answer-unasked sael/auth-type sael/bind-nothing sael/bind-without-tool sael/call-both sael/call-empty sael/call-failed sael/cancel-kind sael/cancel-late sael/cancel-unknown sael/capability-denied sael/capability-ignored sael/client-silent sael/cost-over-limit sael/delta-mixed sael/delta-snapshot sael/delta-undeclared sael/dropped-call sael/dropped-subscription sael/error-code sael/error-code-extra sael/event-after-unsubscribe sael/event-early sael/field-missing sael/filter-odd sael/header-form sael/heartbeat-echo sael/heartbeat-late sael/heartbeat-unanswered sael/heartbeat-unit sael/hey-again sael/hey-answer sael/hey-first sael/hey-unanswered sael/input-unchecked sael/item-content sael/json-in-binary sael/kind-direction sael/kind-unknown sael/login-error-seq sael/login-refused sael/malformed sael/mask sael/msgpack-unagreed sael/open-limit sael/parallel-shape sael/refused-goes-on sael/replay-count sael/replay-lost sael/replay-many sael/replay-old sael/replay-twice sael/resume-ahead sael/resume-unknown sael/scope-differs sael/seq-missing sael/seq-not-rising sael/seq-reused sael/seq-value sael/span-id sael/stage-kind sael/stage-unsupported sael/stage-value sael/still-sending sael/stream-ends-with-result sael/stream-not-streamed sael/stream-survived sael/stream-undeclared sael/subprotocol-name sael/subprotocol-not-offered sael/subscription-id sael/subscription-unknown sael/text-despite-msgpack sael/token-claims sael/token-client sael/token-expired sael/token-exposed sael/token-in-clear sael/token-issued-later sael/token-long-lived sael/token-not-yet sael/token-shape sael/token-signature sael/tool-cost sael/tool-effect sael/tool-unlisted sael/trace-dropped sael/trace-id sael/trace-mismatch sael/unanswered sael/upgrade-refused sael/upgrade-unanswered sael/version-missing sael/version-mixed sael/version-unknown sael/window-exceeded sael/window-value saikuro/ack-namespace saikuro/after-end saikuro/after-own-close saikuro/ambiguous-id saikuro/announce-late saikuro/announce-refused saikuro/answer-id-form saikuro/args-unfit saikuro/bad-error saikuro/bad-field saikuro/bad-id saikuro/bad-schema saikuro/bad-target saikuro/bad-text saikuro/bad-version saikuro/batch-count saikuro/batch-duplicate-id saikuro/batch-ok saikuro/batch-order saikuro/batch-without-target saikuro/call-failed saikuro/capability-missing saikuro/capability-undeclared saikuro/cast-answered saikuro/cast-refused saikuro/channel-item-refused saikuro/channel-not-closed saikuro/document-capability saikuro/document-error-code saikuro/duplicate-key saikuro/empty-batch saikuro/empty-frame saikuro/error-missing saikuro/extension-value saikuro/frame-too-long saikuro/id-reused saikuro/item-from-opener saikuro/items-unacknowledged saikuro/late-answer saikuro/log-answered saikuro/malformed saikuro/mask saikuro/missing-args saikuro/missing-id saikuro/mixed-error-codes saikuro/namespace-twice saikuro/non-string-key saikuro/not-messagepack saikuro/ok-with-error saikuro/open-limit saikuro/out-of-order saikuro/own-namespace saikuro/peers-capability saikuro/peers-error-code saikuro/peers-type saikuro/random-id saikuro/result-missing saikuro/result-unfit saikuro/schema-kind saikuro/schema-version saikuro/second-answer saikuro/seq-gap saikuro/seq-repeated saikuro/seq-start saikuro/stream-answered saikuro/stream-not-aborted saikuro/stream-unfinished saikuro/subprotocol-not-offered saikuro/text-frame saikuro/trailing-bytes saikuro/unanswered saikuro/unknown-error-code saikuro/unknown-id saikuro/unknown-message saikuro/unknown-type saikuro/unread-version saikuro/upgrade-refused saikuro/upgrade-unanswered stepflow/accept stepflow/answer-after-eof stepflow/answer-before-callback stepflow/answer-missing stepflow/answered-twice stepflow/attempt stepflow/before-initialize stepflow/before-initialized stepflow/blank-line stepflow/blob-id stepflow/blob-unknown stepflow/call-failed stepflow/callback-answer-refused stepflow/callback-outside-execute stepflow/component-object stepflow/content-type stepflow/crlf stepflow/duplicate-id stepflow/duplicate-key stepflow/error-code stepflow/error-message stepflow/error-shape stepflow/event-after-answer stepflow/id-range stepflow/id-type stepflow/id-type-changed stepflow/initialize-unanswered stepflow/initialized-early stepflow/lone-cr stepflow/long-answer stepflow/long-line stepflow/malformed stepflow/missing-id stepflow/missing-param stepflow/missing-result stepflow/mixed-releases stepflow/not-a-message stepflow/not-an-object stepflow/not-json stepflow/not-text stepflow/notification-answered stepflow/notification-with-id stepflow/null-beside stepflow/null-id stepflow/null-id-error stepflow/null-result stepflow/open-limit stepflow/orphan stepflow/out-of-order stepflow/param-type stepflow/params-missing stepflow/params-type stepflow/refused stepflow/request-in-body stepflow/request-without-id stepflow/result-and-error stepflow/result-beside-method stepflow/result-type stepflow/second-initialize stepflow/span-id stepflow/stream-ends-early stepflow/subprotocol-not-offered stepflow/trace-id stepflow/trailing-bytes stepflow/unanswered stepflow/unknown-method stepflow/unknown-notification stepflow/upgrade-refused stepflow/upgrade-unanswered stepflow/version-mismatch stepflow/version-missing stepflow/version-wrong stepflow/wrong-answer stepflow/wrong-direction telequick/audio-after-end telequick/audio-empty telequick/audio-order telequick/audio-size telequick/call-failed telequick/call-over telequick/call-too-early telequick/codec-change telequick/compat-above-version telequick/cut-short telequick/dial-action telequick/disputed-id telequick/dtmf-args telequick/early-statistics telequick/envelope-overrun telequick/error-without-message telequick/event-after-hangup telequick/event-order telequick/field-overrun telequick/flavour-change telequick/frame-length telequick/frame-limit telequick/gateway-verb telequick/hold-order telequick/inclusive-length telequick/invalid-text telequick/jitter-range telequick/legacy-id telequick/malformed telequick/message-without-error telequick/missing-fields telequick/misspelt-id telequick/mos-range telequick/negative-size telequick/newer-version telequick/no-end-of-stream telequick/no-subscription telequick/not-finite telequick/nul-in-string telequick/odd-bool telequick/older-version telequick/open-limit telequick/peer-limit telequick/seq-back telequick/seq-gap telequick/shared-stream telequick/string-length telequick/subprotocol-not-offered telequick/time-order telequick/too-deep telequick/trailing-bytes telequick/unanswered telequick/unasked telequick/unexpected-tail telequick/unframed-answer telequick/unknown-call telequick/unknown-codec telequick/unknown-enum telequick/unknown-event telequick/unknown-method telequick/unreadable-version telequick/upgrade-refused telequick/upgrade-unanswered telequick/vector-count telequick/verb-too-early telequick/wrong-client telequick/wrong-stream" -- "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=($(compgen -W "junit tap sarif github html" -- "${cur}"))
                    return 0
                    ;;
                --stall)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --most)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__make)
            opts="-o -q -v -h --list --to --output --framing --length-mode --dir --msgpack --schema --seed --force --set --length --truncate --patch --color --quiet --verbose --config --help saikuro oracle sael stepflow telequick mcp lsp acp jsonrpc dap cdp nvim i3 $/cancelRequest $/cancel_request $/logTrace $/progress $/setTrace ACK AbortBulk AllocateWt AllocateWtResponse AnswerIncomingCall AnswerIncomingCallResponse AudioFrame BYE Barge BucketActionResponse BucketCallList BulkResponse CAN CallEvent END ERR EVT ExecuteBucketAction ExecuteDialplan ExecuteDialplanResponse GetActiveBuckets GetBucketCalls GetIncomingCalls GetIncomingCallsResponse HBA HBT HEY INV LST ListBucketsResponse Originate OriginateBulk OriginateResponse PIPELINE RES RSM ReloadCertificates STR SUB SetInboundRouting StreamEvents SuperviseSubscribe SuperviseSubscribeResponse Terminate TerminateResponse UNS WIN abort ack announce authenticate batch blobs/get blobs/put call callHierarchy/incomingCalls callHierarchy/outgoingCalls cast channel client/registerCapability client/unregisterCapability codeAction/resolve codeLens/resolve completion/complete completionItem/resolve components/execute components/infer_schema components/info components/list documentLink/resolve elicitation/create end error event exit flows/evaluate flows/get_batch flows/get_metadata flows/submit_batch fs/read_text_file fs/write_text_file initialize initialized inlayHint/resolve invoke item log logging/setLevel logout notebookDocument/didChange notebookDocument/didClose notebookDocument/didOpen notebookDocument/didSave notification notifications/cancelled notifications/initialized notifications/message notifications/progress notifications/prompts/list_changed notifications/resources/list_changed notifications/resources/updated notifications/roots/list_changed notifications/tools/list_changed ping prompts/get prompts/list ready request resource resources/list resources/read resources/subscribe resources/templates/list resources/unsubscribe response result roots/list runs/get runs/submit sampling/createMessage server/discover session/cancel session/close session/delete session/list session/load session/new session/prompt session/request_permission session/resume session/set_config_option session/set_mode session/update shutdown stream subscriptions/listen tasks/cancel tasks/get tasks/list tasks/result telemetry/event terminal/create terminal/kill terminal/output terminal/release terminal/wait_for_exit textDocument/codeAction textDocument/codeLens textDocument/colorPresentation textDocument/completion textDocument/declaration textDocument/definition textDocument/diagnostic textDocument/didChange textDocument/didClose textDocument/didOpen textDocument/didSave textDocument/documentColor textDocument/documentHighlight textDocument/documentLink textDocument/documentSymbol textDocument/foldingRange textDocument/formatting textDocument/hover textDocument/implementation textDocument/inlayHint textDocument/inlineCompletion textDocument/inlineValue textDocument/linkedEditingRange textDocument/moniker textDocument/onTypeFormatting textDocument/prepareCallHierarchy textDocument/prepareRename textDocument/prepareTypeHierarchy textDocument/publishDiagnostics textDocument/rangeFormatting textDocument/rangesFormatting textDocument/references textDocument/rename textDocument/selectionRange textDocument/semanticTokens/full textDocument/semanticTokens/full/delta textDocument/semanticTokens/range textDocument/signatureHelp textDocument/typeDefinition textDocument/willSave textDocument/willSaveWaitUntil tools/call tools/list typeHierarchy/subtypes typeHierarchy/supertypes window/logMessage window/showDocument window/showMessage window/showMessageRequest window/workDoneProgress/cancel window/workDoneProgress/create workspace/applyEdit workspace/codeLens/refresh workspace/configuration workspace/diagnostic workspace/diagnostic/refresh workspace/didChangeConfiguration workspace/didChangeWatchedFiles workspace/didChangeWorkspaceFolders workspace/didCreateFiles workspace/didDeleteFiles workspace/didRenameFiles workspace/executeCommand workspace/foldingRange/refresh workspace/inlayHint/refresh workspace/inlineValue/refresh workspace/semanticTokens/refresh workspace/symbol workspace/textDocumentContent workspace/textDocumentContent/refresh workspace/willCreateFiles workspace/willDeleteFiles workspace/willRenameFiles workspace/workspaceFolders workspaceSymbol/resolve"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --to)
                    COMPREPLY=($(compgen -W "raw hex xxd base64 json" -- "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --framing)
                    COMPREPLY=($(compgen -W "lines prefix method bare content-length websocket http http3 values header message fields" -- "${cur}"))
                    return 0
                    ;;
                --length-mode)
                    COMPREPLY=($(compgen -W "exclusive inclusive" -- "${cur}"))
                    return 0
                    ;;
                --dir)
                    COMPREPLY=($(compgen -W "c2s s2c" -- "${cur}"))
                    return 0
                    ;;
                --schema)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --set)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --length)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --truncate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --patch)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__man)
            opts="-q -v -h --out --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --out)
                    COMPREPLY=()
                    if [[ "${BASH_VERSINFO[0]}" -ge 4 ]]; then
                        compopt -o plusdirs
                    fi
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__mcp)
            opts="-q -v -h --color --quiet --verbose --config --help serve"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__mcp__subcmd__serve)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__oracle)
            opts="-q -v -h --color --quiet --verbose --config --help felt split"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__oracle__subcmd__felt)
            opts="-f -q -v -h --format --color --quiet --verbose --config --help decode encode"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --format)
                    COMPREPLY=($(compgen -W "line json" -- "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -W "line json" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__oracle__subcmd__felt__subcmd__decode)
            opts="-t -q -v -h --type --sdk --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --type)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -t)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__oracle__subcmd__felt__subcmd__encode)
            opts="-t -q -v -h --type --sdk --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --type)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -t)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__oracle__subcmd__split)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__protocol)
            opts="-q -v -h --color --quiet --verbose --config --help check show draft"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__protocol__subcmd__check)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__protocol__subcmd__draft)
            opts="-q -v -h --c2s --s2c --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --c2s)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --s2c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__protocol__subcmd__show)
            opts="-q -v -h --toml --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__proxy)
            opts="-w -f -p -q -v -h --listen --connect --once --idle --drain-stderr --quarantine --keep-open --rewrite-host --cacert --insecure --alpn --cert --key --cert-out --max-streams --fault --fault-file --seed --write --rotate --otlp --view --format --ops --show-secrets --protocol --framing --length-mode --schema --struct --signature --max-message --max-depth --no-resync --lint --fail-on --dialect --allow --deny --secret-file --max-open --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --listen)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --connect)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --idle)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keep-open)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cacert)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --alpn)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cert)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --key)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cert-out)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-streams)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fault)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fault-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -w)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rotate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --otlp)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --view)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "tree line json hex" -- "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -W "tree line json hex" -- "${cur}"))
                    return 0
                    ;;
                --protocol)
                    COMPREPLY=($(compgen -W "saikuro oracle sael stepflow telequick mcp lsp acp jsonrpc dap cdp nvim i3" -- "${cur}"))
                    return 0
                    ;;
                -p)
                    COMPREPLY=($(compgen -W "saikuro oracle sael stepflow telequick mcp lsp acp jsonrpc dap cdp nvim i3" -- "${cur}"))
                    return 0
                    ;;
                --framing)
                    COMPREPLY=($(compgen -W "auto lines prefix method bare content-length websocket http http3 values header message fields" -- "${cur}"))
                    return 0
                    ;;
                --length-mode)
                    COMPREPLY=($(compgen -W "auto exclusive inclusive" -- "${cur}"))
                    return 0
                    ;;
                --schema)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --struct)
                    COMPREPLY=($(compgen -W "AbortBulkRequest AllocateWtRequest AllocateWtResponse AnswerIncomingCallRequest AnswerIncomingCallResponse AudioFrame BargeRequest BucketActionRequest BucketActionResponse BucketCallList BucketInfo BucketRequest BulkRequest BulkResponse CallEvent Empty EventStreamRequest ExecuteDialplanRequest ExecuteDialplanResponse GetIncomingCallsRequest GetIncomingCallsResponse IncomingCallInfo ListBucketsResponse OriginateRequest OriginateResponse SetInboundRoutingRequest SuperviseSubscribeRequest SuperviseSubscribeResponse TerminateRequest TerminateResponse" -- "${cur}"))
                    return 0
                    ;;
                --signature)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-message)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fail-on)
                    COMPREPLY=($(compgen -W "info warning error never" -- "${cur}"))
                    return 0
                    ;;
                --dialect)
                    COMPREPLY=($(compgen -W "document peers both" -- "${cur}"))
                    return 0
                    ;;
                --allow)
                    COMPREPLY=($(compgen -W "acp/answered-twice acp/batch acp/before-initialize acp/blank-line acp/call-failed acp/cancel-ignored acp/cancel-unknown acp/cancelled-unanswered acp/capability-missing acp/connection-missing acp/duplicate-id acp/duplicate-key acp/error-shape acp/id-fraction acp/id-range acp/id-type acp/id-type-changed acp/line-zero acp/malformed acp/method-type acp/missing-id acp/missing-param acp/not-a-message acp/not-json acp/notification-with-id acp/null-beside acp/null-id acp/open-limit acp/orphan acp/param-type acp/params-shape acp/permission-after-cancel acp/prompt-in-turn acp/refused acp/relative-path acp/request-without-id acp/result-and-error acp/result-beside-method acp/result-type acp/second-initialize acp/session-closed acp/session-ended acp/status-back acp/subprotocol-not-offered acp/terminal-released acp/tool-call-again acp/tool-call-running acp/unanswered acp/unknown-method acp/unknown-mode acp/unknown-option acp/unknown-session acp/unknown-terminal acp/unknown-tool-call acp/unknown-update acp/unknown-version acp/update-outside-turn acp/upgrade-refused acp/upgrade-unanswered acp/version acp/version-raised acp/wrong-direction cdp/answered-twice cdp/call-failed cdp/id-reused cdp/malformed cdp/no-match cdp/not-checked cdp/open-limit cdp/orphan cdp/subprotocol-not-offered cdp/unanswered cdp/upgrade-refused cdp/upgrade-unanswered cdp/wrong-direction cdp/wrong-type dap/after-terminated dap/answered-twice dap/call-failed dap/configuration-done-early dap/debugging-not-announced dap/id-reused dap/initialize-first dap/initialize-once dap/malformed dap/no-match dap/not-checked dap/open-limit dap/orphan dap/other-command dap/reverse-not-announced dap/reverse-wrong-side dap/seq-order dap/subprotocol-not-offered dap/unanswered dap/upgrade-refused dap/upgrade-unanswered dap/wrong-direction dap/wrong-side dap/wrong-type i3/answered-twice i3/call-failed i3/id-reused i3/malformed i3/no-match i3/not-checked i3/open-limit i3/orphan i3/subprotocol-not-offered i3/unanswered i3/upgrade-refused i3/upgrade-unanswered i3/wrong-direction i3/wrong-type jsonrpc/answered-twice jsonrpc/batch-answer jsonrpc/batch-empty jsonrpc/batch-member jsonrpc/blank-line jsonrpc/call-failed jsonrpc/duplicate-id jsonrpc/duplicate-key jsonrpc/error-shape jsonrpc/id-fraction jsonrpc/id-range jsonrpc/id-type jsonrpc/id-type-changed jsonrpc/malformed jsonrpc/method-type jsonrpc/missing-id jsonrpc/null-beside jsonrpc/null-id jsonrpc/open-limit jsonrpc/orphan jsonrpc/params-shape jsonrpc/refused jsonrpc/reserved-code jsonrpc/reserved-method jsonrpc/result-and-error jsonrpc/result-beside-method jsonrpc/stack-trace jsonrpc/subprotocol-not-offered jsonrpc/unanswered jsonrpc/upgrade-refused jsonrpc/upgrade-unanswered jsonrpc/version lsp/answered-twice lsp/batch lsp/call-failed lsp/cancel-unknown lsp/cancelled-unanswered lsp/change-kind lsp/charset lsp/client-capability lsp/configuration-length lsp/document-not-open lsp/document-opened-twice lsp/document-version lsp/duplicate-id lsp/duplicate-key lsp/error-shape lsp/exit-without-shutdown lsp/header-line-end lsp/header-spelling lsp/id-fraction lsp/id-range lsp/id-type lsp/id-type-changed lsp/initialized-missing lsp/length-repeated lsp/malformed lsp/method-type lsp/missing-id lsp/missing-param lsp/notification-before-initialize lsp/notification-with-id lsp/null-beside lsp/null-id lsp/open-limit lsp/orphan lsp/param-type lsp/params-shape lsp/partial-result lsp/position lsp/progress-end lsp/progress-order lsp/progress-token lsp/range lsp/request-after-shutdown lsp/request-before-initialize lsp/request-not-open lsp/request-without-id lsp/result-and-error lsp/result-beside-method lsp/result-type lsp/second-initialize lsp/selection-range lsp/semantic-tokens lsp/server-capability lsp/subprotocol-not-offered lsp/unanswered lsp/unknown-method lsp/upgrade-refused lsp/upgrade-unanswered lsp/version lsp/wrong-direction mcp/answer-after-cancel mcp/answered-twice mcp/batch mcp/batch-answer mcp/batch-empty mcp/batch-member mcp/before-initialize mcp/before-initialized mcp/blank-line mcp/call-failed mcp/cancel-initialize mcp/cancel-unknown mcp/cancelled-unanswered mcp/capability-missing mcp/content-type mcp/duplicate-id mcp/duplicate-key mcp/elicitation-schema mcp/era-mixed mcp/error-shape mcp/header-line-end mcp/header-mismatch mcp/id-fraction mcp/id-range mcp/id-type mcp/id-type-changed mcp/initialized-early mcp/input-not-asked mcp/input-request mcp/log-level mcp/malformed mcp/meta-missing mcp/method-type mcp/missing-content mcp/missing-id mcp/missing-param mcp/not-a-message mcp/not-in-version mcp/not-json mcp/notification-with-id mcp/null-beside mcp/null-id mcp/open-limit mcp/orphan mcp/param-type mcp/params-shape mcp/progress-after-answer mcp/progress-order mcp/progress-token mcp/progress-token-shared mcp/refused mcp/request-state mcp/request-without-id mcp/result-and-error mcp/result-beside-method mcp/result-type mcp/result-type-missing mcp/second-initialize mcp/server-request mcp/session-ended mcp/session-missing mcp/subprotocol-not-offered mcp/subscription-acknowledged mcp/subscription-id mcp/subscription-kind mcp/tool-arguments mcp/tool-changed mcp/tool-result mcp/unanswered mcp/unknown-cursor mcp/unknown-method mcp/unknown-tool mcp/unknown-version mcp/upgrade-refused mcp/upgrade-unanswered mcp/version mcp/version-header mcp/version-lowered mcp/wrong-direction nvim/answered-twice nvim/call-failed nvim/id-reused nvim/malformed nvim/no-match nvim/not-checked nvim/open-limit nvim/orphan nvim/subprotocol-not-offered nvim/unanswered nvim/upgrade-refused nvim/upgrade-unanswered nvim/wrong-direction nvim/wrong-type oracle/ack-id oracle/alive-after-refusal oracle/answer-after-eof oracle/answer-id oracle/backtrace oracle/blank-line oracle/call-failed oracle/calldata-surplus oracle/calldata-type oracle/connection-cr oracle/connection-shell oracle/crlf oracle/cut-line oracle/desync oracle/died-in-invoke oracle/error-code oracle/error-code-range oracle/error-shape oracle/extra-line oracle/felt-form oracle/felt-range oracle/felt-spelling oracle/first-byte oracle/first-not-ready oracle/id-form oracle/id-order oracle/invoke-after-shutdown oracle/invoke-no-id oracle/invoke-params oracle/invoke-unacknowledged oracle/left-idle oracle/lone-cr oracle/lone-surrogate oracle/long-line oracle/malformed oracle/nesting oracle/no-ready oracle/no-result oracle/no-shutdown oracle/not-a-message oracle/not-an-object oracle/not-json oracle/not-unicode oracle/null-id oracle/open-limit oracle/oracle-asks oracle/output-after-shutdown oracle/overlap oracle/positional-params oracle/ready-params oracle/ready-twice oracle/repeated-key oracle/result-and-error oracle/result-shape oracle/result-surplus oracle/result-type oracle/shutdown-id oracle/shutdown-params oracle/speaks-before-ready oracle/stray-ack oracle/subprotocol-not-offered oracle/trailing-bytes oracle/unanswered oracle/unknown-member oracle/unknown-method oracle/upgrade-refused oracle/upgrade-unanswered oracle/version sael/ack-undefined sael/after-bye sael/anonymous-effect sael/anonymous-resume sael/anonymous-subscription sael/answer-after-end sael/answer-kind sael/answer-unasked sael/auth-type sael/bind-nothing sael/bind-without-tool sael/call-both sael/call-empty sael/call-failed sael/cancel-kind sael/cancel-late sael/cancel-unknown sael/capability-denied sael/capability-ignored sael/client-silent sael/cost-over-limit sael/delta-mixed sael/delta-snapshot sael/delta-undeclared sael/dropped-call sael/dropped-subscription sael/error-code sael/error-code-extra sael/event-after-unsubscribe sael/event-early sael/field-missing sael/filter-odd sael/header-form sael/heartbeat-echo sael/heartbeat-late sael/heartbeat-unanswered sael/heartbeat-unit sael/hey-again sael/hey-answer sael/hey-first sael/hey-unanswered sael/input-unchecked sael/item-content sael/json-in-binary sael/kind-direction sael/kind-unknown sael/login-error-seq sael/login-refused sael/malformed sael/mask sael/msgpack-unagreed sael/open-limit sael/parallel-shape sael/refused-goes-on sael/replay-count sael/replay-lost sael/replay-many sael/replay-old sael/replay-twice sael/resume-ahead sael/resume-unknown sael/scope-differs sael/seq-missing sael/seq-not-rising sael/seq-reused sael/seq-value sael/span-id sael/stage-kind sael/stage-unsupported sael/stage-value sael/still-sending sael/stream-ends-with-result sael/stream-not-streamed sael/stream-survived sael/stream-undeclared sael/subprotocol-name sael/subprotocol-not-offered sael/subscription-id sael/subscription-unknown sael/text-despite-msgpack sael/token-claims sael/token-client sael/token-expired sael/token-exposed sael/token-in-clear sael/token-issued-later sael/token-long-lived sael/token-not-yet sael/token-shape sael/token-signature sael/tool-cost sael/tool-effect sael/tool-unlisted sael/trace-dropped sael/trace-id sael/trace-mismatch sael/unanswered sael/upgrade-refused sael/upgrade-unanswered sael/version-missing sael/version-mixed sael/version-unknown sael/window-exceeded sael/window-value saikuro/ack-namespace saikuro/after-end saikuro/after-own-close saikuro/ambiguous-id saikuro/announce-late saikuro/announce-refused saikuro/answer-id-form saikuro/args-unfit saikuro/bad-error saikuro/bad-field saikuro/bad-id saikuro/bad-schema saikuro/bad-target saikuro/bad-text saikuro/bad-version saikuro/batch-count saikuro/batch-duplicate-id saikuro/batch-ok saikuro/batch-order saikuro/batch-without-target saikuro/call-failed saikuro/capability-missing saikuro/capability-undeclared saikuro/cast-answered saikuro/cast-refused saikuro/channel-item-refused saikuro/channel-not-closed saikuro/document-capability saikuro/document-error-code saikuro/duplicate-key saikuro/empty-batch saikuro/empty-frame saikuro/error-missing saikuro/extension-value saikuro/frame-too-long saikuro/id-reused saikuro/item-from-opener saikuro/items-unacknowledged saikuro/late-answer saikuro/log-answered saikuro/malformed saikuro/mask saikuro/missing-args saikuro/missing-id saikuro/mixed-error-codes saikuro/namespace-twice saikuro/non-string-key saikuro/not-messagepack saikuro/ok-with-error saikuro/open-limit saikuro/out-of-order saikuro/own-namespace saikuro/peers-capability saikuro/peers-error-code saikuro/peers-type saikuro/random-id saikuro/result-missing saikuro/result-unfit saikuro/schema-kind saikuro/schema-version saikuro/second-answer saikuro/seq-gap saikuro/seq-repeated saikuro/seq-start saikuro/stream-answered saikuro/stream-not-aborted saikuro/stream-unfinished saikuro/subprotocol-not-offered saikuro/text-frame saikuro/trailing-bytes saikuro/unanswered saikuro/unknown-error-code saikuro/unknown-id saikuro/unknown-message saikuro/unknown-type saikuro/unread-version saikuro/upgrade-refused saikuro/upgrade-unanswered stepflow/accept stepflow/answer-after-eof stepflow/answer-before-callback stepflow/answer-missing stepflow/answered-twice stepflow/attempt stepflow/before-initialize stepflow/before-initialized stepflow/blank-line stepflow/blob-id stepflow/blob-unknown stepflow/call-failed stepflow/callback-answer-refused stepflow/callback-outside-execute stepflow/component-object stepflow/content-type stepflow/crlf stepflow/duplicate-id stepflow/duplicate-key stepflow/error-code stepflow/error-message stepflow/error-shape stepflow/event-after-answer stepflow/id-range stepflow/id-type stepflow/id-type-changed stepflow/initialize-unanswered stepflow/initialized-early stepflow/lone-cr stepflow/long-answer stepflow/long-line stepflow/malformed stepflow/missing-id stepflow/missing-param stepflow/missing-result stepflow/mixed-releases stepflow/not-a-message stepflow/not-an-object stepflow/not-json stepflow/not-text stepflow/notification-answered stepflow/notification-with-id stepflow/null-beside stepflow/null-id stepflow/null-id-error stepflow/null-result stepflow/open-limit stepflow/orphan stepflow/out-of-order stepflow/param-type stepflow/params-missing stepflow/params-type stepflow/refused stepflow/request-in-body stepflow/request-without-id stepflow/result-and-error stepflow/result-beside-method stepflow/result-type stepflow/second-initialize stepflow/span-id stepflow/stream-ends-early stepflow/subprotocol-not-offered stepflow/trace-id stepflow/trailing-bytes stepflow/unanswered stepflow/unknown-method stepflow/unknown-notification stepflow/upgrade-refused stepflow/upgrade-unanswered stepflow/version-mismatch stepflow/version-missing stepflow/version-wrong stepflow/wrong-answer stepflow/wrong-direction telequick/audio-after-end telequick/audio-empty telequick/audio-order telequick/audio-size telequick/call-failed telequick/call-over telequick/call-too-early telequick/codec-change telequick/compat-above-version telequick/cut-short telequick/dial-action telequick/disputed-id telequick/dtmf-args telequick/early-statistics telequick/envelope-overrun telequick/error-without-message telequick/event-after-hangup telequick/event-order telequick/field-overrun telequick/flavour-change telequick/frame-length telequick/frame-limit telequick/gateway-verb telequick/hold-order telequick/inclusive-length telequick/invalid-text telequick/jitter-range telequick/legacy-id telequick/malformed telequick/message-without-error telequick/missing-fields telequick/misspelt-id telequick/mos-range telequick/negative-size telequick/newer-version telequick/no-end-of-stream telequick/no-subscription telequick/not-finite telequick/nul-in-string telequick/odd-bool telequick/older-version telequick/open-limit telequick/peer-limit telequick/seq-back telequick/seq-gap telequick/shared-stream telequick/string-length telequick/subprotocol-not-offered telequick/time-order telequick/too-deep telequick/trailing-bytes telequick/unanswered telequick/unasked telequick/unexpected-tail telequick/unframed-answer telequick/unknown-call telequick/unknown-codec telequick/unknown-enum telequick/unknown-event telequick/unknown-method telequick/unreadable-version telequick/upgrade-refused telequick/upgrade-unanswered telequick/vector-count telequick/verb-too-early telequick/wrong-client telequick/wrong-stream" -- "${cur}"))
                    return 0
                    ;;
                --deny)
                    COMPREPLY=($(compgen -W "acp/answered-twice acp/batch acp/before-initialize acp/blank-line acp/call-failed acp/cancel-ignored acp/cancel-unknown acp/cancelled-unanswered acp/capability-missing acp/connection-missing acp/duplicate-id acp/duplicate-key acp/error-shape acp/id-fraction acp/id-range acp/id-type acp/id-type-changed acp/line-zero acp/malformed acp/method-type acp/missing-id acp/missing-param acp/not-a-message acp/not-json acp/notification-with-id acp/null-beside acp/null-id acp/open-limit acp/orphan acp/param-type acp/params-shape acp/permission-after-cancel acp/prompt-in-turn acp/refused acp/relative-path acp/request-without-id acp/result-and-error acp/result-beside-method acp/result-type acp/second-initialize acp/session-closed acp/session-ended acp/status-back acp/subprotocol-not-offered acp/terminal-released acp/tool-call-again acp/tool-call-running acp/unanswered acp/unknown-method acp/unknown-mode acp/unknown-option acp/unknown-session acp/unknown-terminal acp/unknown-tool-call acp/unknown-update acp/unknown-version acp/update-outside-turn acp/upgrade-refused acp/upgrade-unanswered acp/version acp/version-raised acp/wrong-direction cdp/answered-twice cdp/call-failed cdp/id-reused cdp/malformed cdp/no-match cdp/not-checked cdp/open-limit cdp/orphan cdp/subprotocol-not-offered cdp/unanswered cdp/upgrade-refused cdp/upgrade-unanswered cdp/wrong-direction cdp/wrong-type dap/after-terminated dap/answered-twice dap/call-failed dap/configuration-done-early dap/debugging-not-announced dap/id-reused dap/initialize-first dap/initialize-once dap/malformed dap/no-match dap/not-checked dap/open-limit dap/orphan dap/other-command dap/reverse-not-announced dap/reverse-wrong-side dap/seq-order dap/subprotocol-not-offered dap/unanswered dap/upgrade-refused dap/upgrade-unanswered dap/wrong-direction dap/wrong-side dap/wrong-type i3/answered-twice i3/call-failed i3/id-reused i3/malformed i3/no-match i3/not-checked i3/open-limit i3/orphan i3/subprotocol-not-offered i3/unanswered i3/upgrade-refused i3/upgrade-unanswered i3/wrong-direction i3/wrong-type jsonrpc/answered-twice jsonrpc/batch-answer jsonrpc/batch-empty jsonrpc/batch-member jsonrpc/blank-line jsonrpc/call-failed jsonrpc/duplicate-id jsonrpc/duplicate-key jsonrpc/error-shape jsonrpc/id-fraction jsonrpc/id-range jsonrpc/id-type jsonrpc/id-type-changed jsonrpc/malformed jsonrpc/method-type jsonrpc/missing-id jsonrpc/null-beside jsonrpc/null-id jsonrpc/open-limit jsonrpc/orphan jsonrpc/params-shape jsonrpc/refused jsonrpc/reserved-code jsonrpc/reserved-method jsonrpc/result-and-error jsonrpc/result-beside-method jsonrpc/stack-trace jsonrpc/subprotocol-not-offered jsonrpc/unanswered jsonrpc/upgrade-refused jsonrpc/upgrade-unanswered jsonrpc/version lsp/answered-twice lsp/batch lsp/call-failed lsp/cancel-unknown lsp/cancelled-unanswered lsp/change-kind lsp/charset lsp/client-capability lsp/configuration-length lsp/document-not-open lsp/document-opened-twice lsp/document-version lsp/duplicate-id lsp/duplicate-key lsp/error-shape lsp/exit-without-shutdown lsp/header-line-end lsp/header-spelling lsp/id-fraction lsp/id-range lsp/id-type lsp/id-type-changed lsp/initialized-missing lsp/length-repeated lsp/malformed lsp/method-type lsp/missing-id lsp/missing-param lsp/notification-before-initialize lsp/notification-with-id lsp/null-beside lsp/null-id lsp/open-limit lsp/orphan lsp/param-type lsp/params-shape lsp/partial-result lsp/position lsp/progress-end lsp/progress-order lsp/progress-token lsp/range lsp/request-after-shutdown lsp/request-before-initialize lsp/request-not-open lsp/request-without-id lsp/result-and-error lsp/result-beside-method lsp/result-type lsp/second-initialize lsp/selection-range lsp/semantic-tokens lsp/server-capability lsp/subprotocol-not-offered lsp/unanswered lsp/unknown-method lsp/upgrade-refused lsp/upgrade-unanswered lsp/version lsp/wrong-direction mcp/answer-after-cancel mcp/answered-twice mcp/batch mcp/batch-answer mcp/batch-empty mcp/batch-member mcp/before-initialize mcp/before-initialized mcp/blank-line mcp/call-failed mcp/cancel-initialize mcp/cancel-unknown mcp/cancelled-unanswered mcp/capability-missing mcp/content-type mcp/duplicate-id mcp/duplicate-key mcp/elicitation-schema mcp/era-mixed mcp/error-shape mcp/header-line-end mcp/header-mismatch mcp/id-fraction mcp/id-range mcp/id-type mcp/id-type-changed mcp/initialized-early mcp/input-not-asked mcp/input-request mcp/log-level mcp/malformed mcp/meta-missing mcp/method-type mcp/missing-content mcp/missing-id mcp/missing-param mcp/not-a-message mcp/not-in-version mcp/not-json mcp/notification-with-id mcp/null-beside mcp/null-id mcp/open-limit mcp/orphan mcp/param-type mcp/params-shape mcp/progress-after-answer mcp/progress-order mcp/progress-token mcp/progress-token-shared mcp/refused mcp/request-state mcp/request-without-id mcp/result-and-error mcp/result-beside-method mcp/result-type mcp/result-type-missing mcp/second-initialize mcp/server-request mcp/session-ended mcp/session-missing mcp/subprotocol-not-offered mcp/subscription-acknowledged mcp/subscription-id mcp/subscription-kind mcp/tool-arguments mcp/tool-changed mcp/tool-result mcp/unanswered mcp/unknown-cursor mcp/unknown-method mcp/unknown-tool mcp/unknown-version mcp/upgrade-refused mcp/upgrade-unanswered mcp/version mcp/version-header mcp/version-lowered mcp/wrong-direction nvim/answered-twice nvim/call-failed nvim/id-reused nvim/malformed nvim/no-match nvim/not-checked nvim/open-limit nvim/orphan nvim/subprotocol-not-offered nvim/unanswered nvim/upgrade-refused nvim/upgrade-unanswered nvim/wrong-direction nvim/wrong-type oracle/ack-id oracle/alive-after-refusal oracle/answer-after-eof oracle/answer-id oracle/backtrace oracle/blank-line oracle/call-failed oracle/calldata-surplus oracle/calldata-type oracle/connection-cr oracle/connection-shell oracle/crlf oracle/cut-line oracle/desync oracle/died-in-invoke oracle/error-code oracle/error-code-range oracle/error-shape oracle/extra-line oracle/felt-form oracle/felt-range oracle/felt-spelling oracle/first-byte oracle/first-not-ready oracle/id-form oracle/id-order oracle/invoke-after-shutdown oracle/invoke-no-id oracle/invoke-params oracle/invoke-unacknowledged oracle/left-idle oracle/lone-cr oracle/lone-surrogate oracle/long-line oracle/malformed oracle/nesting oracle/no-ready oracle/no-result oracle/no-shutdown oracle/not-a-message oracle/not-an-object oracle/not-json oracle/not-unicode oracle/null-id oracle/open-limit oracle/oracle-asks oracle/output-after-shutdown oracle/overlap oracle/positional-params oracle/ready-params oracle/ready-twice oracle/repeated-key oracle/result-and-error oracle/result-shape oracle/result-surplus oracle/result-type oracle/shutdown-id oracle/shutdown-params oracle/speaks-before-ready oracle/stray-ack oracle/subprotocol-not-offered oracle/trailing-bytes oracle/unanswered oracle/unknown-member oracle/unknown-method oracle/upgrade-refused oracle/upgrade-unanswered oracle/version sael/ack-undefined sael/after-bye sael/anonymous-effect sael/anonymous-resume sael/anonymous-subscription sael/answer-after-end sael/answer-kind sael/answer-unasked sael/auth-type sael/bind-nothing sael/bind-without-tool sael/call-both sael/call-empty sael/call-failed sael/cancel-kind sael/cancel-late sael/cancel-unknown sael/capability-denied sael/capability-ignored sael/client-silent sael/cost-over-limit sael/delta-mixed sael/delta-snapshot sael/delta-undeclared sael/dropped-call sael/dropped-subscription sael/error-code sael/error-code-extra sael/event-after-unsubscribe sael/event-early sael/field-missing sael/filter-odd sael/header-form sael/heartbeat-echo sael/heartbeat-late sael/heartbeat-unanswered sael/heartbeat-unit sael/hey-again sael/hey-answer sael/hey-first sael/hey-unanswered sael/input-unchecked sael/item-content sael/json-in-binary sael/kind-direction sael/kind-unknown sael/login-error-seq sael/login-refused sael/malformed sael/mask sael/msgpack-unagreed sael/open-limit sael/parallel-shape sael/refused-goes-on sael/replay-count sael/replay-lost sael/replay-many sael/replay-old sael/replay-twice sael/resume-ahead sael/resume-unknown sael/scope-differs sael/seq-missing sael/seq-not-rising sael/seq-reused sael/seq-value sael/span-id sael/stage-kind sael/stage-unsupported sael/stage-value sael/still-sending sael/stream-ends-with-result sael/stream-not-streamed sael/stream-survived sael/stream-undeclared sael/subprotocol-name sael/subprotocol-not-offered sael/subscription-id sael/subscription-unknown sael/text-despite-msgpack sael/token-claims sael/token-client sael/token-expired sael/token-exposed sael/token-in-clear sael/token-issued-later sael/token-long-lived sael/token-not-yet sael/token-shape sael/token-signature sael/tool-cost sael/tool-effect sael/tool-unlisted sael/trace-dropped sael/trace-id sael/trace-mismatch sael/unanswered sael/upgrade-refused sael/upgrade-unanswered sael/version-missing sael/version-mixed sael/version-unknown sael/window-exceeded sael/window-value saikuro/ack-namespace saikuro/after-end saikuro/after-own-close saikuro/ambiguous-id saikuro/announce-late saikuro/announce-refused saikuro/answer-id-form saikuro/args-unfit saikuro/bad-error saikuro/bad-field saikuro/bad-id saikuro/bad-schema saikuro/bad-target saikuro/bad-text saikuro/bad-version saikuro/batch-count saikuro/batch-duplicate-id saikuro/batch-ok saikuro/batch-order saikuro/batch-without-target saikuro/call-failed saikuro/capability-missing saikuro/capability-undeclared saikuro/cast-answered saikuro/cast-refused saikuro/channel-item-refused saikuro/channel-not-closed saikuro/document-capability saikuro/document-error-code saikuro/duplicate-key saikuro/empty-batch saikuro/empty-frame saikuro/error-missing saikuro/extension-value saikuro/frame-too-long saikuro/id-reused saikuro/item-from-opener saikuro/items-unacknowledged saikuro/late-answer saikuro/log-answered saikuro/malformed saikuro/mask saikuro/missing-args saikuro/missing-id saikuro/mixed-error-codes saikuro/namespace-twice saikuro/non-string-key saikuro/not-messagepack saikuro/ok-with-error saikuro/open-limit saikuro/out-of-order saikuro/own-namespace saikuro/peers-capability saikuro/peers-error-code saikuro/peers-type saikuro/random-id saikuro/result-missing saikuro/result-unfit saikuro/schema-kind saikuro/schema-version saikuro/second-answer saikuro/seq-gap saikuro/seq-repeated saikuro/seq-start saikuro/stream-answered saikuro/stream-not-aborted saikuro/stream-unfinished saikuro/subprotocol-not-offered saikuro/text-frame saikuro/trailing-bytes saikuro/unanswered saikuro/unknown-error-code saikuro/unknown-id saikuro/unknown-message saikuro/unknown-type saikuro/unread-version saikuro/upgrade-refused saikuro/upgrade-unanswered stepflow/accept stepflow/answer-after-eof stepflow/answer-before-callback stepflow/answer-missing stepflow/answered-twice stepflow/attempt stepflow/before-initialize stepflow/before-initialized stepflow/blank-line stepflow/blob-id stepflow/blob-unknown stepflow/call-failed stepflow/callback-answer-refused stepflow/callback-outside-execute stepflow/component-object stepflow/content-type stepflow/crlf stepflow/duplicate-id stepflow/duplicate-key stepflow/error-code stepflow/error-message stepflow/error-shape stepflow/event-after-answer stepflow/id-range stepflow/id-type stepflow/id-type-changed stepflow/initialize-unanswered stepflow/initialized-early stepflow/lone-cr stepflow/long-answer stepflow/long-line stepflow/malformed stepflow/missing-id stepflow/missing-param stepflow/missing-result stepflow/mixed-releases stepflow/not-a-message stepflow/not-an-object stepflow/not-json stepflow/not-text stepflow/notification-answered stepflow/notification-with-id stepflow/null-beside stepflow/null-id stepflow/null-id-error stepflow/null-result stepflow/open-limit stepflow/orphan stepflow/out-of-order stepflow/param-type stepflow/params-missing stepflow/params-type stepflow/refused stepflow/request-in-body stepflow/request-without-id stepflow/result-and-error stepflow/result-beside-method stepflow/result-type stepflow/second-initialize stepflow/span-id stepflow/stream-ends-early stepflow/subprotocol-not-offered stepflow/trace-id stepflow/trailing-bytes stepflow/unanswered stepflow/unknown-method stepflow/unknown-notification stepflow/upgrade-refused stepflow/upgrade-unanswered stepflow/version-mismatch stepflow/version-missing stepflow/version-wrong stepflow/wrong-answer stepflow/wrong-direction telequick/audio-after-end telequick/audio-empty telequick/audio-order telequick/audio-size telequick/call-failed telequick/call-over telequick/call-too-early telequick/codec-change telequick/compat-above-version telequick/cut-short telequick/dial-action telequick/disputed-id telequick/dtmf-args telequick/early-statistics telequick/envelope-overrun telequick/error-without-message telequick/event-after-hangup telequick/event-order telequick/field-overrun telequick/flavour-change telequick/frame-length telequick/frame-limit telequick/gateway-verb telequick/hold-order telequick/inclusive-length telequick/invalid-text telequick/jitter-range telequick/legacy-id telequick/malformed telequick/message-without-error telequick/missing-fields telequick/misspelt-id telequick/mos-range telequick/negative-size telequick/newer-version telequick/no-end-of-stream telequick/no-subscription telequick/not-finite telequick/nul-in-string telequick/odd-bool telequick/older-version telequick/open-limit telequick/peer-limit telequick/seq-back telequick/seq-gap telequick/shared-stream telequick/string-length telequick/subprotocol-not-offered telequick/time-order telequick/too-deep telequick/trailing-bytes telequick/unanswered telequick/unasked telequick/unexpected-tail telequick/unframed-answer telequick/unknown-call telequick/unknown-codec telequick/unknown-enum telequick/unknown-event telequick/unknown-method telequick/unreadable-version telequick/upgrade-refused telequick/upgrade-unanswered telequick/vector-count telequick/verb-too-early telequick/wrong-client telequick/wrong-stream" -- "${cur}"))
                    return 0
                    ;;
                --secret-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-open)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__record)
            opts="-w -f -p -q -v -h --listen --connect --once --idle --drain-stderr --quarantine --keep-open --rewrite-host --cacert --insecure --alpn --cert --key --cert-out --max-streams --fault --fault-file --seed --write --rotate --otlp --view --format --ops --show-secrets --protocol --framing --length-mode --schema --struct --signature --max-message --max-depth --no-resync --lint --fail-on --dialect --allow --deny --secret-file --max-open --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --listen)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --connect)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --idle)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keep-open)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cacert)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --alpn)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cert)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --key)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cert-out)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-streams)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fault)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fault-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -w)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rotate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --otlp)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --view)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "tree line json hex" -- "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -W "tree line json hex" -- "${cur}"))
                    return 0
                    ;;
                --protocol)
                    COMPREPLY=($(compgen -W "saikuro oracle sael stepflow telequick mcp lsp acp jsonrpc dap cdp nvim i3" -- "${cur}"))
                    return 0
                    ;;
                -p)
                    COMPREPLY=($(compgen -W "saikuro oracle sael stepflow telequick mcp lsp acp jsonrpc dap cdp nvim i3" -- "${cur}"))
                    return 0
                    ;;
                --framing)
                    COMPREPLY=($(compgen -W "auto lines prefix method bare content-length websocket http http3 values header message fields" -- "${cur}"))
                    return 0
                    ;;
                --length-mode)
                    COMPREPLY=($(compgen -W "auto exclusive inclusive" -- "${cur}"))
                    return 0
                    ;;
                --schema)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --struct)
                    COMPREPLY=($(compgen -W "AbortBulkRequest AllocateWtRequest AllocateWtResponse AnswerIncomingCallRequest AnswerIncomingCallResponse AudioFrame BargeRequest BucketActionRequest BucketActionResponse BucketCallList BucketInfo BucketRequest BulkRequest BulkResponse CallEvent Empty EventStreamRequest ExecuteDialplanRequest ExecuteDialplanResponse GetIncomingCallsRequest GetIncomingCallsResponse IncomingCallInfo ListBucketsResponse OriginateRequest OriginateResponse SetInboundRoutingRequest SuperviseSubscribeRequest SuperviseSubscribeResponse TerminateRequest TerminateResponse" -- "${cur}"))
                    return 0
                    ;;
                --signature)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-message)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fail-on)
                    COMPREPLY=($(compgen -W "info warning error never" -- "${cur}"))
                    return 0
                    ;;
                --dialect)
                    COMPREPLY=($(compgen -W "document peers both" -- "${cur}"))
                    return 0
                    ;;
                --allow)
                    COMPREPLY=($(compgen -W "acp/answered-twice acp/batch acp/before-initialize acp/blank-line acp/call-failed acp/cancel-ignored acp/cancel-unknown acp/cancelled-unanswered acp/capability-missing acp/connection-missing acp/duplicate-id acp/duplicate-key acp/error-shape acp/id-fraction acp/id-range acp/id-type acp/id-type-changed acp/line-zero acp/malformed acp/method-type acp/missing-id acp/missing-param acp/not-a-message acp/not-json acp/notification-with-id acp/null-beside acp/null-id acp/open-limit acp/orphan acp/param-type acp/params-shape acp/permission-after-cancel acp/prompt-in-turn acp/refused acp/relative-path acp/request-without-id acp/result-and-error acp/result-beside-method acp/result-type acp/second-initialize acp/session-closed acp/session-ended acp/status-back acp/subprotocol-not-offered acp/terminal-released acp/tool-call-again acp/tool-call-running acp/unanswered acp/unknown-method acp/unknown-mode acp/unknown-option acp/unknown-session acp/unknown-terminal acp/unknown-tool-call acp/unknown-update acp/unknown-version acp/update-outside-turn acp/upgrade-refused acp/upgrade-unanswered acp/version acp/version-raised acp/wrong-direction cdp/answered-twice cdp/call-failed cdp/id-reused cdp/malformed cdp/no-match cdp/not-checked cdp/open-limit cdp/orphan cdp/subprotocol-not-offered cdp/unanswered cdp/upgrade-refused cdp/upgrade-unanswered cdp/wrong-direction cdp/wrong-type dap/after-terminated dap/answered-twice dap/call-failed dap/configuration-done-early dap/debugging-not-announced dap/id-reused dap/initialize-first dap/initialize-once dap/malformed dap/no-match dap/not-checked dap/open-limit dap/orphan dap/other-command dap/reverse-not-announced dap/reverse-wrong-side dap/seq-order dap/subprotocol-not-offered dap/unanswered dap/upgrade-refused dap/upgrade-unanswered dap/wrong-direction dap/wrong-side dap/wrong-type i3/answered-twice i3/call-failed i3/id-reused i3/malformed i3/no-match i3/not-checked i3/open-limit i3/orphan i3/subprotocol-not-offered i3/unanswered i3/upgrade-refused i3/upgrade-unanswered i3/wrong-direction i3/wrong-type jsonrpc/answered-twice jsonrpc/batch-answer jsonrpc/batch-empty jsonrpc/batch-member jsonrpc/blank-line jsonrpc/call-failed jsonrpc/duplicate-id jsonrpc/duplicate-key jsonrpc/error-shape jsonrpc/id-fraction jsonrpc/id-range jsonrpc/id-type jsonrpc/id-type-changed jsonrpc/malformed jsonrpc/method-type jsonrpc/missing-id jsonrpc/null-beside jsonrpc/null-id jsonrpc/open-limit jsonrpc/orphan jsonrpc/params-shape jsonrpc/refused jsonrpc/reserved-code jsonrpc/reserved-method jsonrpc/result-and-error jsonrpc/result-beside-method jsonrpc/stack-trace jsonrpc/subprotocol-not-offered jsonrpc/unanswered jsonrpc/upgrade-refused jsonrpc/upgrade-unanswered jsonrpc/version lsp/answered-twice lsp/batch lsp/call-failed lsp/cancel-unknown lsp/cancelled-unanswered lsp/change-kind lsp/charset lsp/client-capability lsp/configuration-length lsp/document-not-open lsp/document-opened-twice lsp/document-version lsp/duplicate-id lsp/duplicate-key lsp/error-shape lsp/exit-without-shutdown lsp/header-line-end lsp/header-spelling lsp/id-fraction lsp/id-range lsp/id-type lsp/id-type-changed lsp/initialized-missing lsp/length-repeated lsp/malformed lsp/method-type lsp/missing-id lsp/missing-param lsp/notification-before-initialize lsp/notification-with-id lsp/null-beside lsp/null-id lsp/open-limit lsp/orphan lsp/param-type lsp/params-shape lsp/partial-result lsp/position lsp/progress-end lsp/progress-order lsp/progress-token lsp/range lsp/request-after-shutdown lsp/request-before-initialize lsp/request-not-open lsp/request-without-id lsp/result-and-error lsp/result-beside-method lsp/result-type lsp/second-initialize lsp/selection-range lsp/semantic-tokens lsp/server-capability lsp/subprotocol-not-offered lsp/unanswered lsp/unknown-method lsp/upgrade-refused lsp/upgrade-unanswered lsp/version lsp/wrong-direction mcp/answer-after-cancel mcp/answered-twice mcp/batch mcp/batch-answer mcp/batch-empty mcp/batch-member mcp/before-initialize mcp/before-initialized mcp/blank-line mcp/call-failed mcp/cancel-initialize mcp/cancel-unknown mcp/cancelled-unanswered mcp/capability-missing mcp/content-type mcp/duplicate-id mcp/duplicate-key mcp/elicitation-schema mcp/era-mixed mcp/error-shape mcp/header-line-end mcp/header-mismatch mcp/id-fraction mcp/id-range mcp/id-type mcp/id-type-changed mcp/initialized-early mcp/input-not-asked mcp/input-request mcp/log-level mcp/malformed mcp/meta-missing mcp/method-type mcp/missing-content mcp/missing-id mcp/missing-param mcp/not-a-message mcp/not-in-version mcp/not-json mcp/notification-with-id mcp/null-beside mcp/null-id mcp/open-limit mcp/orphan mcp/param-type mcp/params-shape mcp/progress-after-answer mcp/progress-order mcp/progress-token mcp/progress-token-shared mcp/refused mcp/request-state mcp/request-without-id mcp/result-and-error mcp/result-beside-method mcp/result-type mcp/result-type-missing mcp/second-initialize mcp/server-request mcp/session-ended mcp/session-missing mcp/subprotocol-not-offered mcp/subscription-acknowledged mcp/subscription-id mcp/subscription-kind mcp/tool-arguments mcp/tool-changed mcp/tool-result mcp/unanswered mcp/unknown-cursor mcp/unknown-method mcp/unknown-tool mcp/unknown-version mcp/upgrade-refused mcp/upgrade-unanswered mcp/version mcp/version-header mcp/version-lowered mcp/wrong-direction nvim/answered-twice nvim/call-failed nvim/id-reused nvim/malformed nvim/no-match nvim/not-checked nvim/open-limit nvim/orphan nvim/subprotocol-not-offered nvim/unanswered nvim/upgrade-refused nvim/upgrade-unanswered nvim/wrong-direction nvim/wrong-type oracle/ack-id oracle/alive-after-refusal oracle/answer-after-eof oracle/answer-id oracle/backtrace oracle/blank-line oracle/call-failed oracle/calldata-surplus oracle/calldata-type oracle/connection-cr oracle/connection-shell oracle/crlf oracle/cut-line oracle/desync oracle/died-in-invoke oracle/error-code oracle/error-code-range oracle/error-shape oracle/extra-line oracle/felt-form oracle/felt-range oracle/felt-spelling oracle/first-byte oracle/first-not-ready oracle/id-form oracle/id-order oracle/invoke-after-shutdown oracle/invoke-no-id oracle/invoke-params oracle/invoke-unacknowledged oracle/left-idle oracle/lone-cr oracle/lone-surrogate oracle/long-line oracle/malformed oracle/nesting oracle/no-ready oracle/no-result oracle/no-shutdown oracle/not-a-message oracle/not-an-object oracle/not-json oracle/not-unicode oracle/null-id oracle/open-limit oracle/oracle-asks oracle/output-after-shutdown oracle/overlap oracle/positional-params oracle/ready-params oracle/ready-twice oracle/repeated-key oracle/result-and-error oracle/result-shape oracle/result-surplus oracle/result-type oracle/shutdown-id oracle/shutdown-params oracle/speaks-before-ready oracle/stray-ack oracle/subprotocol-not-offered oracle/trailing-bytes oracle/unanswered oracle/unknown-member oracle/unknown-method oracle/upgrade-refused oracle/upgrade-unanswered oracle/version sael/ack-undefined sael/after-bye sael/anonymous-effect sael/anonymous-resume sael/anonymous-subscription sael/answer-after-end sael/answer-kind sael/answer-unasked sael/auth-type sael/bind-nothing sael/bind-without-tool sael/call-both sael/call-empty sael/call-failed sael/cancel-kind sael/cancel-late sael/cancel-unknown sael/capability-denied sael/capability-ignored sael/client-silent sael/cost-over-limit sael/delta-mixed sael/delta-snapshot sael/delta-undeclared sael/dropped-call sael/dropped-subscription sael/error-code sael/error-code-extra sael/event-after-unsubscribe sael/event-early sael/field-missing sael/filter-odd sael/header-form sael/heartbeat-echo sael/heartbeat-late sael/heartbeat-unanswered sael/heartbeat-unit sael/hey-again sael/hey-answer sael/hey-first sael/hey-unanswered sael/input-unchecked sael/item-content sael/json-in-binary sael/kind-direction sael/kind-unknown sael/login-error-seq sael/login-refused sael/malformed sael/mask sael/msgpack-unagreed sael/open-limit sael/parallel-shape sael/refused-goes-on sael/replay-count sael/replay-lost sael/replay-many sael/replay-old sael/replay-twice sael/resume-ahead sael/resume-unknown sael/scope-differs sael/seq-missing sael/seq-not-rising sael/seq-reused sael/seq-value sael/span-id sael/stage-kind sael/stage-unsupported sael/stage-value sael/still-sending sael/stream-ends-with-result sael/stream-not-streamed sael/stream-survived sael/stream-undeclared sael/subprotocol-name sael/subprotocol-not-offered sael/subscription-id sael/subscription-unknown sael/text-despite-msgpack sael/token-claims sael/token-client sael/token-expired sael/token-exposed sael/token-in-clear sael/token-issued-later sael/token-long-lived sael/token-not-yet sael/token-shape sael/token-signature sael/tool-cost sael/tool-effect sael/tool-unlisted sael/trace-dropped sael/trace-id sael/trace-mismatch sael/unanswered sael/upgrade-refused sael/upgrade-unanswered sael/version-missing sael/version-mixed sael/version-unknown sael/window-exceeded sael/window-value saikuro/ack-namespace saikuro/after-end saikuro/after-own-close saikuro/ambiguous-id saikuro/announce-late saikuro/announce-refused saikuro/answer-id-form saikuro/args-unfit saikuro/bad-error saikuro/bad-field saikuro/bad-id saikuro/bad-schema saikuro/bad-target saikuro/bad-text saikuro/bad-version saikuro/batch-count saikuro/batch-duplicate-id saikuro/batch-ok saikuro/batch-order saikuro/batch-without-target saikuro/call-failed saikuro/capability-missing saikuro/capability-undeclared saikuro/cast-answered saikuro/cast-refused saikuro/channel-item-refused saikuro/channel-not-closed saikuro/document-capability saikuro/document-error-code saikuro/duplicate-key saikuro/empty-batch saikuro/empty-frame saikuro/error-missing saikuro/extension-value saikuro/frame-too-long saikuro/id-reused saikuro/item-from-opener saikuro/items-unacknowledged saikuro/late-answer saikuro/log-answered saikuro/malformed saikuro/mask saikuro/missing-args saikuro/missing-id saikuro/mixed-error-codes saikuro/namespace-twice saikuro/non-string-key saikuro/not-messagepack saikuro/ok-with-error saikuro/open-limit saikuro/out-of-order saikuro/own-namespace saikuro/peers-capability saikuro/peers-error-code saikuro/peers-type saikuro/random-id saikuro/result-missing saikuro/result-unfit saikuro/schema-kind saikuro/schema-version saikuro/second-answer saikuro/seq-gap saikuro/seq-repeated saikuro/seq-start saikuro/stream-answered saikuro/stream-not-aborted saikuro/stream-unfinished saikuro/subprotocol-not-offered saikuro/text-frame saikuro/trailing-bytes saikuro/unanswered saikuro/unknown-error-code saikuro/unknown-id saikuro/unknown-message saikuro/unknown-type saikuro/unread-version saikuro/upgrade-refused saikuro/upgrade-unanswered stepflow/accept stepflow/answer-after-eof stepflow/answer-before-callback stepflow/answer-missing stepflow/answered-twice stepflow/attempt stepflow/before-initialize stepflow/before-initialized stepflow/blank-line stepflow/blob-id stepflow/blob-unknown stepflow/call-failed stepflow/callback-answer-refused stepflow/callback-outside-execute stepflow/component-object stepflow/content-type stepflow/crlf stepflow/duplicate-id stepflow/duplicate-key stepflow/error-code stepflow/error-message stepflow/error-shape stepflow/event-after-answer stepflow/id-range stepflow/id-type stepflow/id-type-changed stepflow/initialize-unanswered stepflow/initialized-early stepflow/lone-cr stepflow/long-answer stepflow/long-line stepflow/malformed stepflow/missing-id stepflow/missing-param stepflow/missing-result stepflow/mixed-releases stepflow/not-a-message stepflow/not-an-object stepflow/not-json stepflow/not-text stepflow/notification-answered stepflow/notification-with-id stepflow/null-beside stepflow/null-id stepflow/null-id-error stepflow/null-result stepflow/open-limit stepflow/orphan stepflow/out-of-order stepflow/param-type stepflow/params-missing stepflow/params-type stepflow/refused stepflow/request-in-body stepflow/request-without-id stepflow/result-and-error stepflow/result-beside-method stepflow/result-type stepflow/second-initialize stepflow/span-id stepflow/stream-ends-early stepflow/subprotocol-not-offered stepflow/trace-id stepflow/trailing-bytes stepflow/unanswered stepflow/unknown-method stepflow/unknown-notification stepflow/upgrade-refused stepflow/upgrade-unanswered stepflow/version-mismatch stepflow/version-missing stepflow/version-wrong stepflow/wrong-answer stepflow/wrong-direction telequick/audio-after-end telequick/audio-empty telequick/audio-order telequick/audio-size telequick/call-failed telequick/call-over telequick/call-too-early telequick/codec-change telequick/compat-above-version telequick/cut-short telequick/dial-action telequick/disputed-id telequick/dtmf-args telequick/early-statistics telequick/envelope-overrun telequick/error-without-message telequick/event-after-hangup telequick/event-order telequick/field-overrun telequick/flavour-change telequick/frame-length telequick/frame-limit telequick/gateway-verb telequick/hold-order telequick/inclusive-length telequick/invalid-text telequick/jitter-range telequick/legacy-id telequick/malformed telequick/message-without-error telequick/missing-fields telequick/misspelt-id telequick/mos-range telequick/negative-size telequick/newer-version telequick/no-end-of-stream telequick/no-subscription telequick/not-finite telequick/nul-in-string telequick/odd-bool telequick/older-version telequick/open-limit telequick/peer-limit telequick/seq-back telequick/seq-gap telequick/shared-stream telequick/string-length telequick/subprotocol-not-offered telequick/time-order telequick/too-deep telequick/trailing-bytes telequick/unanswered telequick/unasked telequick/unexpected-tail telequick/unframed-answer telequick/unknown-call telequick/unknown-codec telequick/unknown-enum telequick/unknown-event telequick/unknown-method telequick/unreadable-version telequick/upgrade-refused telequick/upgrade-unanswered telequick/vector-count telequick/verb-too-early telequick/wrong-client telequick/wrong-stream" -- "${cur}"))
                    return 0
                    ;;
                --deny)
                    COMPREPLY=($(compgen -W "acp/answered-twice acp/batch acp/before-initialize acp/blank-line acp/call-failed acp/cancel-ignored acp/cancel-unknown acp/cancelled-unanswered acp/capability-missing acp/connection-missing acp/duplicate-id acp/duplicate-key acp/error-shape acp/id-fraction acp/id-range acp/id-type acp/id-type-changed acp/line-zero acp/malformed acp/method-type acp/missing-id acp/missing-param acp/not-a-message acp/not-json acp/notification-with-id acp/null-beside acp/null-id acp/open-limit acp/orphan acp/param-type acp/params-shape acp/permission-after-cancel acp/prompt-in-turn acp/refused acp/relative-path acp/request-without-id acp/result-and-error acp/result-beside-method acp/result-type acp/second-initialize acp/session-closed acp/session-ended acp/status-back acp/subprotocol-not-offered acp/terminal-released acp/tool-call-again acp/tool-call-running acp/unanswered acp/unknown-method acp/unknown-mode acp/unknown-option acp/unknown-session acp/unknown-terminal acp/unknown-tool-call acp/unknown-update acp/unknown-version acp/update-outside-turn acp/upgrade-refused acp/upgrade-unanswered acp/version acp/version-raised acp/wrong-direction cdp/answered-twice cdp/call-failed cdp/id-reused cdp/malformed cdp/no-match cdp/not-checked cdp/open-limit cdp/orphan cdp/subprotocol-not-offered cdp/unanswered cdp/upgrade-refused cdp/upgrade-unanswered cdp/wrong-direction cdp/wrong-type dap/after-terminated dap/answered-twice dap/call-failed dap/configuration-done-early dap/debugging-not-announced dap/id-reused dap/initialize-first dap/initialize-once dap/malformed dap/no-match dap/not-checked dap/open-limit dap/orphan dap/other-command dap/reverse-not-announced dap/reverse-wrong-side dap/seq-order dap/subprotocol-not-offered dap/unanswered dap/upgrade-refused dap/upgrade-unanswered dap/wrong-direction dap/wrong-side dap/wrong-type i3/answered-twice i3/call-failed i3/id-reused i3/malformed i3/no-match i3/not-checked i3/open-limit i3/orphan i3/subprotocol-not-offered i3/unanswered i3/upgrade-refused i3/upgrade-unanswered i3/wrong-direction i3/wrong-type jsonrpc/answered-twice jsonrpc/batch-answer jsonrpc/batch-empty jsonrpc/batch-member jsonrpc/blank-line jsonrpc/call-failed jsonrpc/duplicate-id jsonrpc/duplicate-key jsonrpc/error-shape jsonrpc/id-fraction jsonrpc/id-range jsonrpc/id-type jsonrpc/id-type-changed jsonrpc/malformed jsonrpc/method-type jsonrpc/missing-id jsonrpc/null-beside jsonrpc/null-id jsonrpc/open-limit jsonrpc/orphan jsonrpc/params-shape jsonrpc/refused jsonrpc/reserved-code jsonrpc/reserved-method jsonrpc/result-and-error jsonrpc/result-beside-method jsonrpc/stack-trace jsonrpc/subprotocol-not-offered jsonrpc/unanswered jsonrpc/upgrade-refused jsonrpc/upgrade-unanswered jsonrpc/version lsp/answered-twice lsp/batch lsp/call-failed lsp/cancel-unknown lsp/cancelled-unanswered lsp/change-kind lsp/charset lsp/client-capability lsp/configuration-length lsp/document-not-open lsp/document-opened-twice lsp/document-version lsp/duplicate-id lsp/duplicate-key lsp/error-shape lsp/exit-without-shutdown lsp/header-line-end lsp/header-spelling lsp/id-fraction lsp/id-range lsp/id-type lsp/id-type-changed lsp/initialized-missing lsp/length-repeated lsp/malformed lsp/method-type lsp/missing-id lsp/missing-param lsp/notification-before-initialize lsp/notification-with-id lsp/null-beside lsp/null-id lsp/open-limit lsp/orphan lsp/param-type lsp/params-shape lsp/partial-result lsp/position lsp/progress-end lsp/progress-order lsp/progress-token lsp/range lsp/request-after-shutdown lsp/request-before-initialize lsp/request-not-open lsp/request-without-id lsp/result-and-error lsp/result-beside-method lsp/result-type lsp/second-initialize lsp/selection-range lsp/semantic-tokens lsp/server-capability lsp/subprotocol-not-offered lsp/unanswered lsp/unknown-method lsp/upgrade-refused lsp/upgrade-unanswered lsp/version lsp/wrong-direction mcp/answer-after-cancel mcp/answered-twice mcp/batch mcp/batch-answer mcp/batch-empty mcp/batch-member mcp/before-initialize mcp/before-initialized mcp/blank-line mcp/call-failed mcp/cancel-initialize mcp/cancel-unknown mcp/cancelled-unanswered mcp/capability-missing mcp/content-type mcp/duplicate-id mcp/duplicate-key mcp/elicitation-schema mcp/era-mixed mcp/error-shape mcp/header-line-end mcp/header-mismatch mcp/id-fraction mcp/id-range mcp/id-type mcp/id-type-changed mcp/initialized-early mcp/input-not-asked mcp/input-request mcp/log-level mcp/malformed mcp/meta-missing mcp/method-type mcp/missing-content mcp/missing-id mcp/missing-param mcp/not-a-message mcp/not-in-version mcp/not-json mcp/notification-with-id mcp/null-beside mcp/null-id mcp/open-limit mcp/orphan mcp/param-type mcp/params-shape mcp/progress-after-answer mcp/progress-order mcp/progress-token mcp/progress-token-shared mcp/refused mcp/request-state mcp/request-without-id mcp/result-and-error mcp/result-beside-method mcp/result-type mcp/result-type-missing mcp/second-initialize mcp/server-request mcp/session-ended mcp/session-missing mcp/subprotocol-not-offered mcp/subscription-acknowledged mcp/subscription-id mcp/subscription-kind mcp/tool-arguments mcp/tool-changed mcp/tool-result mcp/unanswered mcp/unknown-cursor mcp/unknown-method mcp/unknown-tool mcp/unknown-version mcp/upgrade-refused mcp/upgrade-unanswered mcp/version mcp/version-header mcp/version-lowered mcp/wrong-direction nvim/answered-twice nvim/call-failed nvim/id-reused nvim/malformed nvim/no-match nvim/not-checked nvim/open-limit nvim/orphan nvim/subprotocol-not-offered nvim/unanswered nvim/upgrade-refused nvim/upgrade-unanswered nvim/wrong-direction nvim/wrong-type oracle/ack-id oracle/alive-after-refusal oracle/answer-after-eof oracle/answer-id oracle/backtrace oracle/blank-line oracle/call-failed oracle/calldata-surplus oracle/calldata-type oracle/connection-cr oracle/connection-shell oracle/crlf oracle/cut-line oracle/desync oracle/died-in-invoke oracle/error-code oracle/error-code-range oracle/error-shape oracle/extra-line oracle/felt-form oracle/felt-range oracle/felt-spelling oracle/first-byte oracle/first-not-ready oracle/id-form oracle/id-order oracle/invoke-after-shutdown oracle/invoke-no-id oracle/invoke-params oracle/invoke-unacknowledged oracle/left-idle oracle/lone-cr oracle/lone-surrogate oracle/long-line oracle/malformed oracle/nesting oracle/no-ready oracle/no-result oracle/no-shutdown oracle/not-a-message oracle/not-an-object oracle/not-json oracle/not-unicode oracle/null-id oracle/open-limit oracle/oracle-asks oracle/output-after-shutdown oracle/overlap oracle/positional-params oracle/ready-params oracle/ready-twice oracle/repeated-key oracle/result-and-error oracle/result-shape oracle/result-surplus oracle/result-type oracle/shutdown-id oracle/shutdown-params oracle/speaks-before-ready oracle/stray-ack oracle/subprotocol-not-offered oracle/trailing-bytes oracle/unanswered oracle/unknown-member oracle/unknown-method oracle/upgrade-refused oracle/upgrade-unanswered oracle/version sael/ack-undefined sael/after-bye sael/anonymous-effect sael/anonymous-resume sael/anonymous-subscription sael/answer-after-end sael/answer-kind sael/answer-unasked sael/auth-type sael/bind-nothing sael/bind-without-tool sael/call-both sael/call-empty sael/call-failed sael/cancel-kind sael/cancel-late sael/cancel-unknown sael/capability-denied sael/capability-ignored sael/client-silent sael/cost-over-limit sael/delta-mixed sael/delta-snapshot sael/delta-undeclared sael/dropped-call sael/dropped-subscription sael/error-code sael/error-code-extra sael/event-after-unsubscribe sael/event-early sael/field-missing sael/filter-odd sael/header-form sael/heartbeat-echo sael/heartbeat-late sael/heartbeat-unanswered sael/heartbeat-unit sael/hey-again sael/hey-answer sael/hey-first sael/hey-unanswered sael/input-unchecked sael/item-content sael/json-in-binary sael/kind-direction sael/kind-unknown sael/login-error-seq sael/login-refused sael/malformed sael/mask sael/msgpack-unagreed sael/open-limit sael/parallel-shape sael/refused-goes-on sael/replay-count sael/replay-lost sael/replay-many sael/replay-old sael/replay-twice sael/resume-ahead sael/resume-unknown sael/scope-differs sael/seq-missing sael/seq-not-rising sael/seq-reused sael/seq-value sael/span-id sael/stage-kind sael/stage-unsupported sael/stage-value sael/still-sending sael/stream-ends-with-result sael/stream-not-streamed sael/stream-survived sael/stream-undeclared sael/subprotocol-name sael/subprotocol-not-offered sael/subscription-id sael/subscription-unknown sael/text-despite-msgpack sael/token-claims sael/token-client sael/token-expired sael/token-exposed sael/token-in-clear sael/token-issued-later sael/token-long-lived sael/token-not-yet sael/token-shape sael/token-signature sael/tool-cost sael/tool-effect sael/tool-unlisted sael/trace-dropped sael/trace-id sael/trace-mismatch sael/unanswered sael/upgrade-refused sael/upgrade-unanswered sael/version-missing sael/version-mixed sael/version-unknown sael/window-exceeded sael/window-value saikuro/ack-namespace saikuro/after-end saikuro/after-own-close saikuro/ambiguous-id saikuro/announce-late saikuro/announce-refused saikuro/answer-id-form saikuro/args-unfit saikuro/bad-error saikuro/bad-field saikuro/bad-id saikuro/bad-schema saikuro/bad-target saikuro/bad-text saikuro/bad-version saikuro/batch-count saikuro/batch-duplicate-id saikuro/batch-ok saikuro/batch-order saikuro/batch-without-target saikuro/call-failed saikuro/capability-missing saikuro/capability-undeclared saikuro/cast-answered saikuro/cast-refused saikuro/channel-item-refused saikuro/channel-not-closed saikuro/document-capability saikuro/document-error-code saikuro/duplicate-key saikuro/empty-batch saikuro/empty-frame saikuro/error-missing saikuro/extension-value saikuro/frame-too-long saikuro/id-reused saikuro/item-from-opener saikuro/items-unacknowledged saikuro/late-answer saikuro/log-answered saikuro/malformed saikuro/mask saikuro/missing-args saikuro/missing-id saikuro/mixed-error-codes saikuro/namespace-twice saikuro/non-string-key saikuro/not-messagepack saikuro/ok-with-error saikuro/open-limit saikuro/out-of-order saikuro/own-namespace saikuro/peers-capability saikuro/peers-error-code saikuro/peers-type saikuro/random-id saikuro/result-missing saikuro/result-unfit saikuro/schema-kind saikuro/schema-version saikuro/second-answer saikuro/seq-gap saikuro/seq-repeated saikuro/seq-start saikuro/stream-answered saikuro/stream-not-aborted saikuro/stream-unfinished saikuro/subprotocol-not-offered saikuro/text-frame saikuro/trailing-bytes saikuro/unanswered saikuro/unknown-error-code saikuro/unknown-id saikuro/unknown-message saikuro/unknown-type saikuro/unread-version saikuro/upgrade-refused saikuro/upgrade-unanswered stepflow/accept stepflow/answer-after-eof stepflow/answer-before-callback stepflow/answer-missing stepflow/answered-twice stepflow/attempt stepflow/before-initialize stepflow/before-initialized stepflow/blank-line stepflow/blob-id stepflow/blob-unknown stepflow/call-failed stepflow/callback-answer-refused stepflow/callback-outside-execute stepflow/component-object stepflow/content-type stepflow/crlf stepflow/duplicate-id stepflow/duplicate-key stepflow/error-code stepflow/error-message stepflow/error-shape stepflow/event-after-answer stepflow/id-range stepflow/id-type stepflow/id-type-changed stepflow/initialize-unanswered stepflow/initialized-early stepflow/lone-cr stepflow/long-answer stepflow/long-line stepflow/malformed stepflow/missing-id stepflow/missing-param stepflow/missing-result stepflow/mixed-releases stepflow/not-a-message stepflow/not-an-object stepflow/not-json stepflow/not-text stepflow/notification-answered stepflow/notification-with-id stepflow/null-beside stepflow/null-id stepflow/null-id-error stepflow/null-result stepflow/open-limit stepflow/orphan stepflow/out-of-order stepflow/param-type stepflow/params-missing stepflow/params-type stepflow/refused stepflow/request-in-body stepflow/request-without-id stepflow/result-and-error stepflow/result-beside-method stepflow/result-type stepflow/second-initialize stepflow/span-id stepflow/stream-ends-early stepflow/subprotocol-not-offered stepflow/trace-id stepflow/trailing-bytes stepflow/unanswered stepflow/unknown-method stepflow/unknown-notification stepflow/upgrade-refused stepflow/upgrade-unanswered stepflow/version-mismatch stepflow/version-missing stepflow/version-wrong stepflow/wrong-answer stepflow/wrong-direction telequick/audio-after-end telequick/audio-empty telequick/audio-order telequick/audio-size telequick/call-failed telequick/call-over telequick/call-too-early telequick/codec-change telequick/compat-above-version telequick/cut-short telequick/dial-action telequick/disputed-id telequick/dtmf-args telequick/early-statistics telequick/envelope-overrun telequick/error-without-message telequick/event-after-hangup telequick/event-order telequick/field-overrun telequick/flavour-change telequick/frame-length telequick/frame-limit telequick/gateway-verb telequick/hold-order telequick/inclusive-length telequick/invalid-text telequick/jitter-range telequick/legacy-id telequick/malformed telequick/message-without-error telequick/missing-fields telequick/misspelt-id telequick/mos-range telequick/negative-size telequick/newer-version telequick/no-end-of-stream telequick/no-subscription telequick/not-finite telequick/nul-in-string telequick/odd-bool telequick/older-version telequick/open-limit telequick/peer-limit telequick/seq-back telequick/seq-gap telequick/shared-stream telequick/string-length telequick/subprotocol-not-offered telequick/time-order telequick/too-deep telequick/trailing-bytes telequick/unanswered telequick/unasked telequick/unexpected-tail telequick/unframed-answer telequick/unknown-call telequick/unknown-codec telequick/unknown-enum telequick/unknown-event telequick/unknown-method telequick/unreadable-version telequick/upgrade-refused telequick/upgrade-unanswered telequick/vector-count telequick/verb-too-early telequick/wrong-client telequick/wrong-stream" -- "${cur}"))
                    return 0
                    ;;
                --secret-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-open)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__redact)
            opts="-o -p -q -v -h --output --key --value --protocol --framing --length-mode --schema --struct --signature --max-message --max-depth --no-resync --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --key)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --value)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --protocol)
                    COMPREPLY=($(compgen -W "saikuro oracle sael stepflow telequick mcp lsp acp jsonrpc dap cdp nvim i3" -- "${cur}"))
                    return 0
                    ;;
                -p)
                    COMPREPLY=($(compgen -W "saikuro oracle sael stepflow telequick mcp lsp acp jsonrpc dap cdp nvim i3" -- "${cur}"))
                    return 0
                    ;;
                --framing)
                    COMPREPLY=($(compgen -W "auto lines prefix method bare content-length websocket http http3 values header message fields" -- "${cur}"))
                    return 0
                    ;;
                --length-mode)
                    COMPREPLY=($(compgen -W "auto exclusive inclusive" -- "${cur}"))
                    return 0
                    ;;
                --schema)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --struct)
                    COMPREPLY=($(compgen -W "AbortBulkRequest AllocateWtRequest AllocateWtResponse AnswerIncomingCallRequest AnswerIncomingCallResponse AudioFrame BargeRequest BucketActionRequest BucketActionResponse BucketCallList BucketInfo BucketRequest BulkRequest BulkResponse CallEvent Empty EventStreamRequest ExecuteDialplanRequest ExecuteDialplanResponse GetIncomingCallsRequest GetIncomingCallsResponse IncomingCallInfo ListBucketsResponse OriginateRequest OriginateResponse SetInboundRoutingRequest SuperviseSubscribeRequest SuperviseSubscribeResponse TerminateRequest TerminateResponse" -- "${cur}"))
                    return 0
                    ;;
                --signature)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-message)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__replay)
            opts="-w -p -f -q -v -h --connect --framing --length-mode --msgpack --header --token-file --name --timeout --seed --cacert --insecure --alpn --write --protocol --schema --max-message --max-depth --where --keep-ids --order --speed --repeat --keep-going --ignore --ignore-file --strict --format --report --show-secrets --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --connect)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --framing)
                    COMPREPLY=($(compgen -W "lines prefix method bare content-length websocket http http3 values header message fields" -- "${cur}"))
                    return 0
                    ;;
                --length-mode)
                    COMPREPLY=($(compgen -W "exclusive inclusive" -- "${cur}"))
                    return 0
                    ;;
                --header)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --token-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cacert)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --alpn)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -w)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --protocol)
                    COMPREPLY=($(compgen -W "saikuro oracle sael stepflow telequick mcp lsp acp jsonrpc dap cdp nvim i3" -- "${cur}"))
                    return 0
                    ;;
                -p)
                    COMPREPLY=($(compgen -W "saikuro oracle sael stepflow telequick mcp lsp acp jsonrpc dap cdp nvim i3" -- "${cur}"))
                    return 0
                    ;;
                --schema)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-message)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --where)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --order)
                    COMPREPLY=($(compgen -W "needed recorded" -- "${cur}"))
                    return 0
                    ;;
                --speed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --repeat)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ignore)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ignore-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=($(compgen -W "junit tap sarif github" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__sael)
            opts="-q -v -h --color --quiet --verbose --config --help token filter"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__sael__subcmd__filter)
            opts="-q -v -h --explain --dialect --now --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --dialect)
                    COMPREPLY=($(compgen -W "go python typescript" -- "${cur}"))
                    return 0
                    ;;
                --now)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__sael__subcmd__token)
            opts="-q -v -h --color --quiet --verbose --config --help inspect verify mint allows"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__sael__subcmd__token__subcmd__allows)
            opts="-q -v -h --scope --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --scope)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__sael__subcmd__token__subcmd__inspect)
            opts="-q -v -h --now --show-secrets --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --now)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__sael__subcmd__token__subcmd__mint)
            opts="-q -v -h --secret-file --claims --iss --sub --scope --exp --ttl --iat --nbf --client-id --max-cost-usd --force --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --secret-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --claims)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --iss)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --sub)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --scope)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --exp)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --ttl)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --iat)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --nbf)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-cost-usd)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__sael__subcmd__token__subcmd__verify)
            opts="-q -v -h --secret-file --now --client-id --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --secret-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --now)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --client-id)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__send)
            opts="-w -f -q -v -h --file --json --connect --framing --length-mode --msgpack --header --token-file --name --timeout --seed --cacert --insecure --alpn --write --linger --no-wait --schema --format --show-secrets --lint --fail-on --dialect --allow --deny --secret-file --max-open --color --quiet --verbose --config --help saikuro oracle sael stepflow telequick mcp lsp acp jsonrpc dap cdp nvim i3 $/cancelRequest $/cancel_request $/logTrace $/progress $/setTrace ACK AbortBulk AllocateWt AllocateWtResponse AnswerIncomingCall AnswerIncomingCallResponse AudioFrame BYE Barge BucketActionResponse BucketCallList BulkResponse CAN CallEvent END ERR EVT ExecuteBucketAction ExecuteDialplan ExecuteDialplanResponse GetActiveBuckets GetBucketCalls GetIncomingCalls GetIncomingCallsResponse HBA HBT HEY INV LST ListBucketsResponse Originate OriginateBulk OriginateResponse PIPELINE RES RSM ReloadCertificates STR SUB SetInboundRouting StreamEvents SuperviseSubscribe SuperviseSubscribeResponse Terminate TerminateResponse UNS WIN abort ack announce authenticate batch blobs/get blobs/put call callHierarchy/incomingCalls callHierarchy/outgoingCalls cast channel client/registerCapability client/unregisterCapability codeAction/resolve codeLens/resolve completion/complete completionItem/resolve components/execute components/infer_schema components/info components/list documentLink/resolve elicitation/create end error event exit flows/evaluate flows/get_batch flows/get_metadata flows/submit_batch fs/read_text_file fs/write_text_file initialize initialized inlayHint/resolve invoke item log logging/setLevel logout notebookDocument/didChange notebookDocument/didClose notebookDocument/didOpen notebookDocument/didSave notification notifications/cancelled notifications/initialized notifications/message notifications/progress notifications/prompts/list_changed notifications/resources/list_changed notifications/resources/updated notifications/roots/list_changed notifications/tools/list_changed ping prompts/get prompts/list ready request resource resources/list resources/read resources/subscribe resources/templates/list resources/unsubscribe response result roots/list runs/get runs/submit sampling/createMessage server/discover session/cancel session/close session/delete session/list session/load session/new session/prompt session/request_permission session/resume session/set_config_option session/set_mode session/update shutdown stream subscriptions/listen tasks/cancel tasks/get tasks/list tasks/result telemetry/event terminal/create terminal/kill terminal/output terminal/release terminal/wait_for_exit textDocument/codeAction textDocument/codeLens textDocument/colorPresentation textDocument/completion textDocument/declaration textDocument/definition textDocument/diagnostic textDocument/didChange textDocument/didClose textDocument/didOpen textDocument/didSave textDocument/documentColor textDocument/documentHighlight textDocument/documentLink textDocument/documentSymbol textDocument/foldingRange textDocument/formatting textDocument/hover textDocument/implementation textDocument/inlayHint textDocument/inlineCompletion textDocument/inlineValue textDocument/linkedEditingRange textDocument/moniker textDocument/onTypeFormatting textDocument/prepareCallHierarchy textDocument/prepareRename textDocument/prepareTypeHierarchy textDocument/publishDiagnostics textDocument/rangeFormatting textDocument/rangesFormatting textDocument/references textDocument/rename textDocument/selectionRange textDocument/semanticTokens/full textDocument/semanticTokens/full/delta textDocument/semanticTokens/range textDocument/signatureHelp textDocument/typeDefinition textDocument/willSave textDocument/willSaveWaitUntil tools/call tools/list typeHierarchy/subtypes typeHierarchy/supertypes window/logMessage window/showDocument window/showMessage window/showMessageRequest window/workDoneProgress/cancel window/workDoneProgress/create workspace/applyEdit workspace/codeLens/refresh workspace/configuration workspace/diagnostic workspace/diagnostic/refresh workspace/didChangeConfiguration workspace/didChangeWatchedFiles workspace/didChangeWorkspaceFolders workspace/didCreateFiles workspace/didDeleteFiles workspace/didRenameFiles workspace/executeCommand workspace/foldingRange/refresh workspace/inlayHint/refresh workspace/inlineValue/refresh workspace/semanticTokens/refresh workspace/symbol workspace/textDocumentContent workspace/textDocumentContent/refresh workspace/willCreateFiles workspace/willDeleteFiles workspace/willRenameFiles workspace/workspaceFolders workspaceSymbol/resolve"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --json)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --connect)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --framing)
                    COMPREPLY=($(compgen -W "lines prefix method bare content-length websocket http http3 values header message fields" -- "${cur}"))
                    return 0
                    ;;
                --length-mode)
                    COMPREPLY=($(compgen -W "exclusive inclusive" -- "${cur}"))
                    return 0
                    ;;
                --header)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --token-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --name)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --timeout)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cacert)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --alpn)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -w)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --linger)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --schema)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "tree line json hex" -- "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -W "tree line json hex" -- "${cur}"))
                    return 0
                    ;;
                --fail-on)
                    COMPREPLY=($(compgen -W "info warning error never" -- "${cur}"))
                    return 0
                    ;;
                --dialect)
                    COMPREPLY=($(compgen -W "document peers both" -- "${cur}"))
                    return 0
                    ;;
                --allow)
                    COMPREPLY=($(compgen -W "acp/answered-twice acp/batch acp/before-initialize acp/blank-line acp/call-failed acp/cancel-ignored acp/cancel-unknown acp/cancelled-unanswered acp/capability-missing acp/connection-missing acp/duplicate-id acp/duplicate-key acp/error-shape acp/id-fraction acp/id-range acp/id-type acp/id-type-changed acp/line-zero acp/malformed acp/method-type acp/missing-id acp/missing-param acp/not-a-message acp/not-json acp/notification-with-id acp/null-beside acp/null-id acp/open-limit acp/orphan acp/param-type acp/params-shape acp/permission-after-cancel acp/prompt-in-turn acp/refused acp/relative-path acp/request-without-id acp/result-and-error acp/result-beside-method acp/result-type acp/second-initialize acp/session-closed acp/session-ended acp/status-back acp/subprotocol-not-offered acp/terminal-released acp/tool-call-again acp/tool-call-running acp/unanswered acp/unknown-method acp/unknown-mode acp/unknown-option acp/unknown-session acp/unknown-terminal acp/unknown-tool-call acp/unknown-update acp/unknown-version acp/update-outside-turn acp/upgrade-refused acp/upgrade-unanswered acp/version acp/version-raised acp/wrong-direction cdp/answered-twice cdp/call-failed cdp/id-reused cdp/malformed cdp/no-match cdp/not-checked cdp/open-limit cdp/orphan cdp/subprotocol-not-offered cdp/unanswered cdp/upgrade-refused cdp/upgrade-unanswered cdp/wrong-direction cdp/wrong-type dap/after-terminated dap/answered-twice dap/call-failed dap/configuration-done-early dap/debugging-not-announced dap/id-reused dap/initialize-first dap/initialize-once dap/malformed dap/no-match dap/not-checked dap/open-limit dap/orphan dap/other-command dap/reverse-not-announced dap/reverse-wrong-side dap/seq-order dap/subprotocol-not-offered dap/unanswered dap/upgrade-refused dap/upgrade-unanswered dap/wrong-direction dap/wrong-side dap/wrong-type i3/answered-twice i3/call-failed i3/id-reused i3/malformed i3/no-match i3/not-checked i3/open-limit i3/orphan i3/subprotocol-not-offered i3/unanswered i3/upgrade-refused i3/upgrade-unanswered i3/wrong-direction i3/wrong-type jsonrpc/answered-twice jsonrpc/batch-answer jsonrpc/batch-empty jsonrpc/batch-member jsonrpc/blank-line jsonrpc/call-failed jsonrpc/duplicate-id jsonrpc/duplicate-key jsonrpc/error-shape jsonrpc/id-fraction jsonrpc/id-range jsonrpc/id-type jsonrpc/id-type-changed jsonrpc/malformed jsonrpc/method-type jsonrpc/missing-id jsonrpc/null-beside jsonrpc/null-id jsonrpc/open-limit jsonrpc/orphan jsonrpc/params-shape jsonrpc/refused jsonrpc/reserved-code jsonrpc/reserved-method jsonrpc/result-and-error jsonrpc/result-beside-method jsonrpc/stack-trace jsonrpc/subprotocol-not-offered jsonrpc/unanswered jsonrpc/upgrade-refused jsonrpc/upgrade-unanswered jsonrpc/version lsp/answered-twice lsp/batch lsp/call-failed lsp/cancel-unknown lsp/cancelled-unanswered lsp/change-kind lsp/charset lsp/client-capability lsp/configuration-length lsp/document-not-open lsp/document-opened-twice lsp/document-version lsp/duplicate-id lsp/duplicate-key lsp/error-shape lsp/exit-without-shutdown lsp/header-line-end lsp/header-spelling lsp/id-fraction lsp/id-range lsp/id-type lsp/id-type-changed lsp/initialized-missing lsp/length-repeated lsp/malformed lsp/method-type lsp/missing-id lsp/missing-param lsp/notification-before-initialize lsp/notification-with-id lsp/null-beside lsp/null-id lsp/open-limit lsp/orphan lsp/param-type lsp/params-shape lsp/partial-result lsp/position lsp/progress-end lsp/progress-order lsp/progress-token lsp/range lsp/request-after-shutdown lsp/request-before-initialize lsp/request-not-open lsp/request-without-id lsp/result-and-error lsp/result-beside-method lsp/result-type lsp/second-initialize lsp/selection-range lsp/semantic-tokens lsp/server-capability lsp/subprotocol-not-offered lsp/unanswered lsp/unknown-method lsp/upgrade-refused lsp/upgrade-unanswered lsp/version lsp/wrong-direction mcp/answer-after-cancel mcp/answered-twice mcp/batch mcp/batch-answer mcp/batch-empty mcp/batch-member mcp/before-initialize mcp/before-initialized mcp/blank-line mcp/call-failed mcp/cancel-initialize mcp/cancel-unknown mcp/cancelled-unanswered mcp/capability-missing mcp/content-type mcp/duplicate-id mcp/duplicate-key mcp/elicitation-schema mcp/era-mixed mcp/error-shape mcp/header-line-end mcp/header-mismatch mcp/id-fraction mcp/id-range mcp/id-type mcp/id-type-changed mcp/initialized-early mcp/input-not-asked mcp/input-request mcp/log-level mcp/malformed mcp/meta-missing mcp/method-type mcp/missing-content mcp/missing-id mcp/missing-param mcp/not-a-message mcp/not-in-version mcp/not-json mcp/notification-with-id mcp/null-beside mcp/null-id mcp/open-limit mcp/orphan mcp/param-type mcp/params-shape mcp/progress-after-answer mcp/progress-order mcp/progress-token mcp/progress-token-shared mcp/refused mcp/request-state mcp/request-without-id mcp/result-and-error mcp/result-beside-method mcp/result-type mcp/result-type-missing mcp/second-initialize mcp/server-request mcp/session-ended mcp/session-missing mcp/subprotocol-not-offered mcp/subscription-acknowledged mcp/subscription-id mcp/subscription-kind mcp/tool-arguments mcp/tool-changed mcp/tool-result mcp/unanswered mcp/unknown-cursor mcp/unknown-method mcp/unknown-tool mcp/unknown-version mcp/upgrade-refused mcp/upgrade-unanswered mcp/version mcp/version-header mcp/version-lowered mcp/wrong-direction nvim/answered-twice nvim/call-failed nvim/id-reused nvim/malformed nvim/no-match nvim/not-checked nvim/open-limit nvim/orphan nvim/subprotocol-not-offered nvim/unanswered nvim/upgrade-refused nvim/upgrade-unanswered nvim/wrong-direction nvim/wrong-type oracle/ack-id oracle/alive-after-refusal oracle/answer-after-eof oracle/answer-id oracle/backtrace oracle/blank-line oracle/call-failed oracle/calldata-surplus oracle/calldata-type oracle/connection-cr oracle/connection-shell oracle/crlf oracle/cut-line oracle/desync oracle/died-in-invoke oracle/error-code oracle/error-code-range oracle/error-shape oracle/extra-line oracle/felt-form oracle/felt-range oracle/felt-spelling oracle/first-byte oracle/first-not-ready oracle/id-form oracle/id-order oracle/invoke-after-shutdown oracle/invoke-no-id oracle/invoke-params oracle/invoke-unacknowledged oracle/left-idle oracle/lone-cr oracle/lone-surrogate oracle/long-line oracle/malformed oracle/nesting oracle/no-ready oracle/no-result oracle/no-shutdown oracle/not-a-message oracle/not-an-object oracle/not-json oracle/not-unicode oracle/null-id oracle/open-limit oracle/oracle-asks oracle/output-after-shutdown oracle/overlap oracle/positional-params oracle/ready-params oracle/ready-twice oracle/repeated-key oracle/result-and-error oracle/result-shape oracle/result-surplus oracle/result-type oracle/shutdown-id oracle/shutdown-params oracle/speaks-before-ready oracle/stray-ack oracle/subprotocol-not-offered oracle/trailing-bytes oracle/unanswered oracle/unknown-member oracle/unknown-method oracle/upgrade-refused oracle/upgrade-unanswered oracle/version sael/ack-undefined sael/after-bye sael/anonymous-effect sael/anonymous-resume sael/anonymous-subscription sael/answer-after-end sael/answer-kind sael/answer-unasked sael/auth-type sael/bind-nothing sael/bind-without-tool sael/call-both sael/call-empty sael/call-failed sael/cancel-kind sael/cancel-late sael/cancel-unknown sael/capability-denied sael/capability-ignored sael/client-silent sael/cost-over-limit sael/delta-mixed sael/delta-snapshot sael/delta-undeclared sael/dropped-call sael/dropped-subscription sael/error-code sael/error-code-extra sael/event-after-unsubscribe sael/event-early sael/field-missing sael/filter-odd sael/header-form sael/heartbeat-echo sael/heartbeat-late sael/heartbeat-unanswered sael/heartbeat-unit sael/hey-again sael/hey-answer sael/hey-first sael/hey-unanswered sael/input-unchecked sael/item-content sael/json-in-binary sael/kind-direction sael/kind-unknown sael/login-error-seq sael/login-refused sael/malformed sael/mask sael/msgpack-unagreed sael/open-limit sael/parallel-shape sael/refused-goes-on sael/replay-count sael/replay-lost sael/replay-many sael/replay-old sael/replay-twice sael/resume-ahead sael/resume-unknown sael/scope-differs sael/seq-missing sael/seq-not-rising sael/seq-reused sael/seq-value sael/span-id sael/stage-kind sael/stage-unsupported sael/stage-value sael/still-sending sael/stream-ends-with-result sael/stream-not-streamed sael/stream-survived sael/stream-undeclared sael/subprotocol-name sael/subprotocol-not-offered sael/subscription-id sael/subscription-unknown sael/text-despite-msgpack sael/token-claims sael/token-client sael/token-expired sael/token-exposed sael/token-in-clear sael/token-issued-later sael/token-long-lived sael/token-not-yet sael/token-shape sael/token-signature sael/tool-cost sael/tool-effect sael/tool-unlisted sael/trace-dropped sael/trace-id sael/trace-mismatch sael/unanswered sael/upgrade-refused sael/upgrade-unanswered sael/version-missing sael/version-mixed sael/version-unknown sael/window-exceeded sael/window-value saikuro/ack-namespace saikuro/after-end saikuro/after-own-close saikuro/ambiguous-id saikuro/announce-late saikuro/announce-refused saikuro/answer-id-form saikuro/args-unfit saikuro/bad-error saikuro/bad-field saikuro/bad-id saikuro/bad-schema saikuro/bad-target saikuro/bad-text saikuro/bad-version saikuro/batch-count saikuro/batch-duplicate-id saikuro/batch-ok saikuro/batch-order saikuro/batch-without-target saikuro/call-failed saikuro/capability-missing saikuro/capability-undeclared saikuro/cast-answered saikuro/cast-refused saikuro/channel-item-refused saikuro/channel-not-closed saikuro/document-capability saikuro/document-error-code saikuro/duplicate-key saikuro/empty-batch saikuro/empty-frame saikuro/error-missing saikuro/extension-value saikuro/frame-too-long saikuro/id-reused saikuro/item-from-opener saikuro/items-unacknowledged saikuro/late-answer saikuro/log-answered saikuro/malformed saikuro/mask saikuro/missing-args saikuro/missing-id saikuro/mixed-error-codes saikuro/namespace-twice saikuro/non-string-key saikuro/not-messagepack saikuro/ok-with-error saikuro/open-limit saikuro/out-of-order saikuro/own-namespace saikuro/peers-capability saikuro/peers-error-code saikuro/peers-type saikuro/random-id saikuro/result-missing saikuro/result-unfit saikuro/schema-kind saikuro/schema-version saikuro/second-answer saikuro/seq-gap saikuro/seq-repeated saikuro/seq-start saikuro/stream-answered saikuro/stream-not-aborted saikuro/stream-unfinished saikuro/subprotocol-not-offered saikuro/text-frame saikuro/trailing-bytes saikuro/unanswered saikuro/unknown-error-code saikuro/unknown-id saikuro/unknown-message saikuro/unknown-type saikuro/unread-version saikuro/upgrade-refused saikuro/upgrade-unanswered stepflow/accept stepflow/answer-after-eof stepflow/answer-before-callback stepflow/answer-missing stepflow/answered-twice stepflow/attempt stepflow/before-initialize stepflow/before-initialized stepflow/blank-line stepflow/blob-id stepflow/blob-unknown stepflow/call-failed stepflow/callback-answer-refused stepflow/callback-outside-execute stepflow/component-object stepflow/content-type stepflow/crlf stepflow/duplicate-id stepflow/duplicate-key stepflow/error-code stepflow/error-message stepflow/error-shape stepflow/event-after-answer stepflow/id-range stepflow/id-type stepflow/id-type-changed stepflow/initialize-unanswered stepflow/initialized-early stepflow/lone-cr stepflow/long-answer stepflow/long-line stepflow/malformed stepflow/missing-id stepflow/missing-param stepflow/missing-result stepflow/mixed-releases stepflow/not-a-message stepflow/not-an-object stepflow/not-json stepflow/not-text stepflow/notification-answered stepflow/notification-with-id stepflow/null-beside stepflow/null-id stepflow/null-id-error stepflow/null-result stepflow/open-limit stepflow/orphan stepflow/out-of-order stepflow/param-type stepflow/params-missing stepflow/params-type stepflow/refused stepflow/request-in-body stepflow/request-without-id stepflow/result-and-error stepflow/result-beside-method stepflow/result-type stepflow/second-initialize stepflow/span-id stepflow/stream-ends-early stepflow/subprotocol-not-offered stepflow/trace-id stepflow/trailing-bytes stepflow/unanswered stepflow/unknown-method stepflow/unknown-notification stepflow/upgrade-refused stepflow/upgrade-unanswered stepflow/version-mismatch stepflow/version-missing stepflow/version-wrong stepflow/wrong-answer stepflow/wrong-direction telequick/audio-after-end telequick/audio-empty telequick/audio-order telequick/audio-size telequick/call-failed telequick/call-over telequick/call-too-early telequick/codec-change telequick/compat-above-version telequick/cut-short telequick/dial-action telequick/disputed-id telequick/dtmf-args telequick/early-statistics telequick/envelope-overrun telequick/error-without-message telequick/event-after-hangup telequick/event-order telequick/field-overrun telequick/flavour-change telequick/frame-length telequick/frame-limit telequick/gateway-verb telequick/hold-order telequick/inclusive-length telequick/invalid-text telequick/jitter-range telequick/legacy-id telequick/malformed telequick/message-without-error telequick/missing-fields telequick/misspelt-id telequick/mos-range telequick/negative-size telequick/newer-version telequick/no-end-of-stream telequick/no-subscription telequick/not-finite telequick/nul-in-string telequick/odd-bool telequick/older-version telequick/open-limit telequick/peer-limit telequick/seq-back telequick/seq-gap telequick/shared-stream telequick/string-length telequick/subprotocol-not-offered telequick/time-order telequick/too-deep telequick/trailing-bytes telequick/unanswered telequick/unasked telequick/unexpected-tail telequick/unframed-answer telequick/unknown-call telequick/unknown-codec telequick/unknown-enum telequick/unknown-event telequick/unknown-method telequick/unreadable-version telequick/upgrade-refused telequick/upgrade-unanswered telequick/vector-count telequick/verb-too-early telequick/wrong-client telequick/wrong-stream" -- "${cur}"))
                    return 0
                    ;;
                --deny)
                    COMPREPLY=($(compgen -W "acp/answered-twice acp/batch acp/before-initialize acp/blank-line acp/call-failed acp/cancel-ignored acp/cancel-unknown acp/cancelled-unanswered acp/capability-missing acp/connection-missing acp/duplicate-id acp/duplicate-key acp/error-shape acp/id-fraction acp/id-range acp/id-type acp/id-type-changed acp/line-zero acp/malformed acp/method-type acp/missing-id acp/missing-param acp/not-a-message acp/not-json acp/notification-with-id acp/null-beside acp/null-id acp/open-limit acp/orphan acp/param-type acp/params-shape acp/permission-after-cancel acp/prompt-in-turn acp/refused acp/relative-path acp/request-without-id acp/result-and-error acp/result-beside-method acp/result-type acp/second-initialize acp/session-closed acp/session-ended acp/status-back acp/subprotocol-not-offered acp/terminal-released acp/tool-call-again acp/tool-call-running acp/unanswered acp/unknown-method acp/unknown-mode acp/unknown-option acp/unknown-session acp/unknown-terminal acp/unknown-tool-call acp/unknown-update acp/unknown-version acp/update-outside-turn acp/upgrade-refused acp/upgrade-unanswered acp/version acp/version-raised acp/wrong-direction cdp/answered-twice cdp/call-failed cdp/id-reused cdp/malformed cdp/no-match cdp/not-checked cdp/open-limit cdp/orphan cdp/subprotocol-not-offered cdp/unanswered cdp/upgrade-refused cdp/upgrade-unanswered cdp/wrong-direction cdp/wrong-type dap/after-terminated dap/answered-twice dap/call-failed dap/configuration-done-early dap/debugging-not-announced dap/id-reused dap/initialize-first dap/initialize-once dap/malformed dap/no-match dap/not-checked dap/open-limit dap/orphan dap/other-command dap/reverse-not-announced dap/reverse-wrong-side dap/seq-order dap/subprotocol-not-offered dap/unanswered dap/upgrade-refused dap/upgrade-unanswered dap/wrong-direction dap/wrong-side dap/wrong-type i3/answered-twice i3/call-failed i3/id-reused i3/malformed i3/no-match i3/not-checked i3/open-limit i3/orphan i3/subprotocol-not-offered i3/unanswered i3/upgrade-refused i3/upgrade-unanswered i3/wrong-direction i3/wrong-type jsonrpc/answered-twice jsonrpc/batch-answer jsonrpc/batch-empty jsonrpc/batch-member jsonrpc/blank-line jsonrpc/call-failed jsonrpc/duplicate-id jsonrpc/duplicate-key jsonrpc/error-shape jsonrpc/id-fraction jsonrpc/id-range jsonrpc/id-type jsonrpc/id-type-changed jsonrpc/malformed jsonrpc/method-type jsonrpc/missing-id jsonrpc/null-beside jsonrpc/null-id jsonrpc/open-limit jsonrpc/orphan jsonrpc/params-shape jsonrpc/refused jsonrpc/reserved-code jsonrpc/reserved-method jsonrpc/result-and-error jsonrpc/result-beside-method jsonrpc/stack-trace jsonrpc/subprotocol-not-offered jsonrpc/unanswered jsonrpc/upgrade-refused jsonrpc/upgrade-unanswered jsonrpc/version lsp/answered-twice lsp/batch lsp/call-failed lsp/cancel-unknown lsp/cancelled-unanswered lsp/change-kind lsp/charset lsp/client-capability lsp/configuration-length lsp/document-not-open lsp/document-opened-twice lsp/document-version lsp/duplicate-id lsp/duplicate-key lsp/error-shape lsp/exit-without-shutdown lsp/header-line-end lsp/header-spelling lsp/id-fraction lsp/id-range lsp/id-type lsp/id-type-changed lsp/initialized-missing lsp/length-repeated lsp/malformed lsp/method-type lsp/missing-id lsp/missing-param lsp/notification-before-initialize lsp/notification-with-id lsp/null-beside lsp/null-id lsp/open-limit lsp/orphan lsp/param-type lsp/params-shape lsp/partial-result lsp/position lsp/progress-end lsp/progress-order lsp/progress-token lsp/range lsp/request-after-shutdown lsp/request-before-initialize lsp/request-not-open lsp/request-without-id lsp/result-and-error lsp/result-beside-method lsp/result-type lsp/second-initialize lsp/selection-range lsp/semantic-tokens lsp/server-capability lsp/subprotocol-not-offered lsp/unanswered lsp/unknown-method lsp/upgrade-refused lsp/upgrade-unanswered lsp/version lsp/wrong-direction mcp/answer-after-cancel mcp/answered-twice mcp/batch mcp/batch-answer mcp/batch-empty mcp/batch-member mcp/before-initialize mcp/before-initialized mcp/blank-line mcp/call-failed mcp/cancel-initialize mcp/cancel-unknown mcp/cancelled-unanswered mcp/capability-missing mcp/content-type mcp/duplicate-id mcp/duplicate-key mcp/elicitation-schema mcp/era-mixed mcp/error-shape mcp/header-line-end mcp/header-mismatch mcp/id-fraction mcp/id-range mcp/id-type mcp/id-type-changed mcp/initialized-early mcp/input-not-asked mcp/input-request mcp/log-level mcp/malformed mcp/meta-missing mcp/method-type mcp/missing-content mcp/missing-id mcp/missing-param mcp/not-a-message mcp/not-in-version mcp/not-json mcp/notification-with-id mcp/null-beside mcp/null-id mcp/open-limit mcp/orphan mcp/param-type mcp/params-shape mcp/progress-after-answer mcp/progress-order mcp/progress-token mcp/progress-token-shared mcp/refused mcp/request-state mcp/request-without-id mcp/result-and-error mcp/result-beside-method mcp/result-type mcp/result-type-missing mcp/second-initialize mcp/server-request mcp/session-ended mcp/session-missing mcp/subprotocol-not-offered mcp/subscription-acknowledged mcp/subscription-id mcp/subscription-kind mcp/tool-arguments mcp/tool-changed mcp/tool-result mcp/unanswered mcp/unknown-cursor mcp/unknown-method mcp/unknown-tool mcp/unknown-version mcp/upgrade-refused mcp/upgrade-unanswered mcp/version mcp/version-header mcp/version-lowered mcp/wrong-direction nvim/answered-twice nvim/call-failed nvim/id-reused nvim/malformed nvim/no-match nvim/not-checked nvim/open-limit nvim/orphan nvim/subprotocol-not-offered nvim/unanswered nvim/upgrade-refused nvim/upgrade-unanswered nvim/wrong-direction nvim/wrong-type oracle/ack-id oracle/alive-after-refusal oracle/answer-after-eof oracle/answer-id oracle/backtrace oracle/blank-line oracle/call-failed oracle/calldata-surplus oracle/calldata-type oracle/connection-cr oracle/connection-shell oracle/crlf oracle/cut-line oracle/desync oracle/died-in-invoke oracle/error-code oracle/error-code-range oracle/error-shape oracle/extra-line oracle/felt-form oracle/felt-range oracle/felt-spelling oracle/first-byte oracle/first-not-ready oracle/id-form oracle/id-order oracle/invoke-after-shutdown oracle/invoke-no-id oracle/invoke-params oracle/invoke-unacknowledged oracle/left-idle oracle/lone-cr oracle/lone-surrogate oracle/long-line oracle/malformed oracle/nesting oracle/no-ready oracle/no-result oracle/no-shutdown oracle/not-a-message oracle/not-an-object oracle/not-json oracle/not-unicode oracle/null-id oracle/open-limit oracle/oracle-asks oracle/output-after-shutdown oracle/overlap oracle/positional-params oracle/ready-params oracle/ready-twice oracle/repeated-key oracle/result-and-error oracle/result-shape oracle/result-surplus oracle/result-type oracle/shutdown-id oracle/shutdown-params oracle/speaks-before-ready oracle/stray-ack oracle/subprotocol-not-offered oracle/trailing-bytes oracle/unanswered oracle/unknown-member oracle/unknown-method oracle/upgrade-refused oracle/upgrade-unanswered oracle/version sael/ack-undefined sael/after-bye sael/anonymous-effect sael/anonymous-resume sael/anonymous-subscription sael/answer-after-end sael/answer-kind sael/answer-unasked sael/auth-type sael/bind-nothing sael/bind-without-tool sael/call-both sael/call-empty sael/call-failed sael/cancel-kind sael/cancel-late sael/cancel-unknown sael/capability-denied sael/capability-ignored sael/client-silent sael/cost-over-limit sael/delta-mixed sael/delta-snapshot sael/delta-undeclared sael/dropped-call sael/dropped-subscription sael/error-code sael/error-code-extra sael/event-after-unsubscribe sael/event-early sael/field-missing sael/filter-odd sael/header-form sael/heartbeat-echo sael/heartbeat-late sael/heartbeat-unanswered sael/heartbeat-unit sael/hey-again sael/hey-answer sael/hey-first sael/hey-unanswered sael/input-unchecked sael/item-content sael/json-in-binary sael/kind-direction sael/kind-unknown sael/login-error-seq sael/login-refused sael/malformed sael/mask sael/msgpack-unagreed sael/open-limit sael/parallel-shape sael/refused-goes-on sael/replay-count sael/replay-lost sael/replay-many sael/replay-old sael/replay-twice sael/resume-ahead sael/resume-unknown sael/scope-differs sael/seq-missing sael/seq-not-rising sael/seq-reused sael/seq-value sael/span-id sael/stage-kind sael/stage-unsupported sael/stage-value sael/still-sending sael/stream-ends-with-result sael/stream-not-streamed sael/stream-survived sael/stream-undeclared sael/subprotocol-name sael/subprotocol-not-offered sael/subscription-id sael/subscription-unknown sael/text-despite-msgpack sael/token-claims sael/token-client sael/token-expired sael/token-exposed sael/token-in-clear sael/token-issued-later sael/token-long-lived sael/token-not-yet sael/token-shape sael/token-signature sael/tool-cost sael/tool-effect sael/tool-unlisted sael/trace-dropped sael/trace-id sael/trace-mismatch sael/unanswered sael/upgrade-refused sael/upgrade-unanswered sael/version-missing sael/version-mixed sael/version-unknown sael/window-exceeded sael/window-value saikuro/ack-namespace saikuro/after-end saikuro/after-own-close saikuro/ambiguous-id saikuro/announce-late saikuro/announce-refused saikuro/answer-id-form saikuro/args-unfit saikuro/bad-error saikuro/bad-field saikuro/bad-id saikuro/bad-schema saikuro/bad-target saikuro/bad-text saikuro/bad-version saikuro/batch-count saikuro/batch-duplicate-id saikuro/batch-ok saikuro/batch-order saikuro/batch-without-target saikuro/call-failed saikuro/capability-missing saikuro/capability-undeclared saikuro/cast-answered saikuro/cast-refused saikuro/channel-item-refused saikuro/channel-not-closed saikuro/document-capability saikuro/document-error-code saikuro/duplicate-key saikuro/empty-batch saikuro/empty-frame saikuro/error-missing saikuro/extension-value saikuro/frame-too-long saikuro/id-reused saikuro/item-from-opener saikuro/items-unacknowledged saikuro/late-answer saikuro/log-answered saikuro/malformed saikuro/mask saikuro/missing-args saikuro/missing-id saikuro/mixed-error-codes saikuro/namespace-twice saikuro/non-string-key saikuro/not-messagepack saikuro/ok-with-error saikuro/open-limit saikuro/out-of-order saikuro/own-namespace saikuro/peers-capability saikuro/peers-error-code saikuro/peers-type saikuro/random-id saikuro/result-missing saikuro/result-unfit saikuro/schema-kind saikuro/schema-version saikuro/second-answer saikuro/seq-gap saikuro/seq-repeated saikuro/seq-start saikuro/stream-answered saikuro/stream-not-aborted saikuro/stream-unfinished saikuro/subprotocol-not-offered saikuro/text-frame saikuro/trailing-bytes saikuro/unanswered saikuro/unknown-error-code saikuro/unknown-id saikuro/unknown-message saikuro/unknown-type saikuro/unread-version saikuro/upgrade-refused saikuro/upgrade-unanswered stepflow/accept stepflow/answer-after-eof stepflow/answer-before-callback stepflow/answer-missing stepflow/answered-twice stepflow/attempt stepflow/before-initialize stepflow/before-initialized stepflow/blank-line stepflow/blob-id stepflow/blob-unknown stepflow/call-failed stepflow/callback-answer-refused stepflow/callback-outside-execute stepflow/component-object stepflow/content-type stepflow/crlf stepflow/duplicate-id stepflow/duplicate-key stepflow/error-code stepflow/error-message stepflow/error-shape stepflow/event-after-answer stepflow/id-range stepflow/id-type stepflow/id-type-changed stepflow/initialize-unanswered stepflow/initialized-early stepflow/lone-cr stepflow/long-answer stepflow/long-line stepflow/malformed stepflow/missing-id stepflow/missing-param stepflow/missing-result stepflow/mixed-releases stepflow/not-a-message stepflow/not-an-object stepflow/not-json stepflow/not-text stepflow/notification-answered stepflow/notification-with-id stepflow/null-beside stepflow/null-id stepflow/null-id-error stepflow/null-result stepflow/open-limit stepflow/orphan stepflow/out-of-order stepflow/param-type stepflow/params-missing stepflow/params-type stepflow/refused stepflow/request-in-body stepflow/request-without-id stepflow/result-and-error stepflow/result-beside-method stepflow/result-type stepflow/second-initialize stepflow/span-id stepflow/stream-ends-early stepflow/subprotocol-not-offered stepflow/trace-id stepflow/trailing-bytes stepflow/unanswered stepflow/unknown-method stepflow/unknown-notification stepflow/upgrade-refused stepflow/upgrade-unanswered stepflow/version-mismatch stepflow/version-missing stepflow/version-wrong stepflow/wrong-answer stepflow/wrong-direction telequick/audio-after-end telequick/audio-empty telequick/audio-order telequick/audio-size telequick/call-failed telequick/call-over telequick/call-too-early telequick/codec-change telequick/compat-above-version telequick/cut-short telequick/dial-action telequick/disputed-id telequick/dtmf-args telequick/early-statistics telequick/envelope-overrun telequick/error-without-message telequick/event-after-hangup telequick/event-order telequick/field-overrun telequick/flavour-change telequick/frame-length telequick/frame-limit telequick/gateway-verb telequick/hold-order telequick/inclusive-length telequick/invalid-text telequick/jitter-range telequick/legacy-id telequick/malformed telequick/message-without-error telequick/missing-fields telequick/misspelt-id telequick/mos-range telequick/negative-size telequick/newer-version telequick/no-end-of-stream telequick/no-subscription telequick/not-finite telequick/nul-in-string telequick/odd-bool telequick/older-version telequick/open-limit telequick/peer-limit telequick/seq-back telequick/seq-gap telequick/shared-stream telequick/string-length telequick/subprotocol-not-offered telequick/time-order telequick/too-deep telequick/trailing-bytes telequick/unanswered telequick/unasked telequick/unexpected-tail telequick/unframed-answer telequick/unknown-call telequick/unknown-codec telequick/unknown-enum telequick/unknown-event telequick/unknown-method telequick/unreadable-version telequick/upgrade-refused telequick/upgrade-unanswered telequick/vector-count telequick/verb-too-early telequick/wrong-client telequick/wrong-stream" -- "${cur}"))
                    return 0
                    ;;
                --secret-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-open)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__shrink)
            opts="-o -p -q -v -h --output --match --replay --connect --runs --max-time --whole-messages --protocol --framing --length-mode --schema --struct --signature --max-message --max-depth --no-resync --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --match)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --connect)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --runs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-time)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --protocol)
                    COMPREPLY=($(compgen -W "saikuro oracle sael stepflow telequick mcp lsp acp jsonrpc dap cdp nvim i3" -- "${cur}"))
                    return 0
                    ;;
                -p)
                    COMPREPLY=($(compgen -W "saikuro oracle sael stepflow telequick mcp lsp acp jsonrpc dap cdp nvim i3" -- "${cur}"))
                    return 0
                    ;;
                --framing)
                    COMPREPLY=($(compgen -W "auto lines prefix method bare content-length websocket http http3 values header message fields" -- "${cur}"))
                    return 0
                    ;;
                --length-mode)
                    COMPREPLY=($(compgen -W "auto exclusive inclusive" -- "${cur}"))
                    return 0
                    ;;
                --schema)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --struct)
                    COMPREPLY=($(compgen -W "AbortBulkRequest AllocateWtRequest AllocateWtResponse AnswerIncomingCallRequest AnswerIncomingCallResponse AudioFrame BargeRequest BucketActionRequest BucketActionResponse BucketCallList BucketInfo BucketRequest BulkRequest BulkResponse CallEvent Empty EventStreamRequest ExecuteDialplanRequest ExecuteDialplanResponse GetIncomingCallsRequest GetIncomingCallsResponse IncomingCallInfo ListBucketsResponse OriginateRequest OriginateResponse SetInboundRoutingRequest SuperviseSubscribeRequest SuperviseSubscribeResponse TerminateRequest TerminateResponse" -- "${cur}"))
                    return 0
                    ;;
                --signature)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-message)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__snapshot)
            opts="-q -v -h --color --quiet --verbose --config --help test review accept reject list"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__snapshot__subcmd__accept)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__snapshot__subcmd__list)
            opts="-f -q -v -h --format --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --format)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__snapshot__subcmd__reject)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__snapshot__subcmd__review)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__snapshot__subcmd__test)
            opts="-p -f -o -q -v -h --protocol --unreferenced --redact-volatile --show-new --format --report --output --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --protocol)
                    COMPREPLY=($(compgen -W "saikuro oracle sael stepflow telequick mcp lsp acp jsonrpc dap cdp nvim i3" -- "${cur}"))
                    return 0
                    ;;
                -p)
                    COMPREPLY=($(compgen -W "saikuro oracle sael stepflow telequick mcp lsp acp jsonrpc dap cdp nvim i3" -- "${cur}"))
                    return 0
                    ;;
                --unreferenced)
                    COMPREPLY=($(compgen -W "auto reject delete warn ignore" -- "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=($(compgen -W "junit tap sarif github" -- "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__stat)
            opts="-p -f -o -q -v -h --from --dir --c2s --s2c --follow --merge --clock --jobs --part-size --port --reassembly-limit --protocol --framing --length-mode --schema --struct --signature --max-message --max-depth --no-resync --where --ops --cost --format --output --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --from)
                    COMPREPLY=($(compgen -W "auto raw hex xxd base64 jsonl text dump literal log recording pcap har page strace curl socat ngrep tcpflow tcpdump tshark" -- "${cur}"))
                    return 0
                    ;;
                --dir)
                    COMPREPLY=($(compgen -W "c2s s2c" -- "${cur}"))
                    return 0
                    ;;
                --c2s)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --s2c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --clock)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --part-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --reassembly-limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --protocol)
                    COMPREPLY=($(compgen -W "saikuro oracle sael stepflow telequick mcp lsp acp jsonrpc dap cdp nvim i3" -- "${cur}"))
                    return 0
                    ;;
                -p)
                    COMPREPLY=($(compgen -W "saikuro oracle sael stepflow telequick mcp lsp acp jsonrpc dap cdp nvim i3" -- "${cur}"))
                    return 0
                    ;;
                --framing)
                    COMPREPLY=($(compgen -W "auto lines prefix method bare content-length websocket http http3 values header message fields" -- "${cur}"))
                    return 0
                    ;;
                --length-mode)
                    COMPREPLY=($(compgen -W "auto exclusive inclusive" -- "${cur}"))
                    return 0
                    ;;
                --schema)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --struct)
                    COMPREPLY=($(compgen -W "AbortBulkRequest AllocateWtRequest AllocateWtResponse AnswerIncomingCallRequest AnswerIncomingCallResponse AudioFrame BargeRequest BucketActionRequest BucketActionResponse BucketCallList BucketInfo BucketRequest BulkRequest BulkResponse CallEvent Empty EventStreamRequest ExecuteDialplanRequest ExecuteDialplanResponse GetIncomingCallsRequest GetIncomingCallsResponse IncomingCallInfo ListBucketsResponse OriginateRequest OriginateResponse SetInboundRoutingRequest SuperviseSubscribeRequest SuperviseSubscribeResponse TerminateRequest TerminateResponse" -- "${cur}"))
                    return 0
                    ;;
                --signature)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-message)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --where)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__stub)
            opts="-w -q -v -h --script --from-recording --speed --selector --tool --on-miss --report --require-all --fail-on-miss --write --print-script --listen --connect --once --idle --cacert --insecure --alpn --cert --key --cert-out --max-streams --framing --length-mode --schema --secret-file --color --quiet --verbose --config --help saikuro oracle sael stepflow telequick mcp lsp acp jsonrpc dap cdp nvim i3"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --script)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --from-recording)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --speed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --selector)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --tool)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --on-miss)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -w)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --listen)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --connect)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --idle)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cacert)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --alpn)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cert)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --key)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cert-out)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-streams)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --framing)
                    COMPREPLY=($(compgen -W "auto lines prefix method bare content-length websocket http http3 values header message fields" -- "${cur}"))
                    return 0
                    ;;
                --length-mode)
                    COMPREPLY=($(compgen -W "auto exclusive inclusive" -- "${cur}"))
                    return 0
                    ;;
                --schema)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --secret-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__telequick)
            opts="-q -v -h --color --quiet --verbose --config --help schema audio"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__telequick__subcmd__audio)
            opts="-o -q -v -h --from --dir --c2s --s2c --follow --merge --clock --jobs --part-size --port --reassembly-limit --call --rate --output --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --from)
                    COMPREPLY=($(compgen -W "auto raw hex xxd base64 jsonl text dump literal log recording pcap har page strace curl socat ngrep tcpflow tcpdump tshark" -- "${cur}"))
                    return 0
                    ;;
                --dir)
                    COMPREPLY=($(compgen -W "c2s s2c" -- "${cur}"))
                    return 0
                    ;;
                --c2s)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --s2c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --clock)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --part-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --reassembly-limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --call)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --rate)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__telequick__subcmd__schema)
            opts="-q -v -h --color --quiet --verbose --config --help check format show id"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 3 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__telequick__subcmd__schema__subcmd__check)
            opts="-q -v -h --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__telequick__subcmd__schema__subcmd__format)
            opts="-o -q -v -h --output --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__telequick__subcmd__schema__subcmd__id)
            opts="-q -v -h --request --response --namespace --service --color --quiet --verbose --config --help AbortBulk AllocateWt AnswerIncomingCall AudioFrame Barge ExecuteBucketAction ExecuteDialplan GetActiveBuckets GetBucketCalls GetIncomingCalls Originate OriginateBulk ReloadCertificates SetInboundRouting StreamEvents SuperviseSubscribe Terminate"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --request)
                    COMPREPLY=($(compgen -W "AbortBulkRequest AllocateWtRequest AllocateWtResponse AnswerIncomingCallRequest AnswerIncomingCallResponse AudioFrame BargeRequest BucketActionRequest BucketActionResponse BucketCallList BucketInfo BucketRequest BulkRequest BulkResponse CallEvent Empty EventStreamRequest ExecuteDialplanRequest ExecuteDialplanResponse GetIncomingCallsRequest GetIncomingCallsResponse IncomingCallInfo ListBucketsResponse OriginateRequest OriginateResponse SetInboundRoutingRequest SuperviseSubscribeRequest SuperviseSubscribeResponse TerminateRequest TerminateResponse" -- "${cur}"))
                    return 0
                    ;;
                --response)
                    COMPREPLY=($(compgen -W "AbortBulkRequest AllocateWtRequest AllocateWtResponse AnswerIncomingCallRequest AnswerIncomingCallResponse AudioFrame BargeRequest BucketActionRequest BucketActionResponse BucketCallList BucketInfo BucketRequest BulkRequest BulkResponse CallEvent Empty EventStreamRequest ExecuteDialplanRequest ExecuteDialplanResponse GetIncomingCallsRequest GetIncomingCallsResponse IncomingCallInfo ListBucketsResponse OriginateRequest OriginateResponse SetInboundRoutingRequest SuperviseSubscribeRequest SuperviseSubscribeResponse TerminateRequest TerminateResponse" -- "${cur}"))
                    return 0
                    ;;
                --namespace)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --service)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__telequick__subcmd__schema__subcmd__show)
            opts="-q -v -h --schema --color --quiet --verbose --config --help AbortBulk AbortBulkRequest AllocateWt AllocateWtRequest AllocateWtResponse AnswerIncomingCall AnswerIncomingCallRequest AnswerIncomingCallResponse AudioFrame Barge BargeRequest BucketActionRequest BucketActionResponse BucketCallList BucketInfo BucketRequest BulkRequest BulkResponse CallEvent Empty EventStreamRequest ExecuteBucketAction ExecuteDialplan ExecuteDialplanRequest ExecuteDialplanResponse GetActiveBuckets GetBucketCalls GetIncomingCalls GetIncomingCallsRequest GetIncomingCallsResponse IncomingCallInfo ListBucketsResponse Originate OriginateBulk OriginateRequest OriginateResponse ReloadCertificates SetInboundRouting SetInboundRoutingRequest StreamEvents SuperviseSubscribe SuperviseSubscribeRequest SuperviseSubscribeResponse Terminate TerminateRequest TerminateResponse"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 4 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --schema)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__test)
            opts="-f -o -q -v -h --case --update --keep --format --report --output --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --case)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keep)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --format)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                -f)
                    COMPREPLY=($(compgen -W "text json" -- "${cur}"))
                    return 0
                    ;;
                --report)
                    COMPREPLY=($(compgen -W "junit tap sarif github" -- "${cur}"))
                    return 0
                    ;;
                --output)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -o)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__unwrap)
            opts="-q -v -h --all --client --in --entry --dry-run --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --client)
                    COMPREPLY=($(compgen -W "claude-desktop claude-code cursor vscode windsurf zed gemini-cli codex helix mcphub.nvim" -- "${cur}"))
                    return 0
                    ;;
                --in)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --entry)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__watch)
            opts="-w -p -q -v -h --from --dir --c2s --s2c --follow --merge --clock --jobs --part-size --port --reassembly-limit --listen --connect --once --idle --drain-stderr --quarantine --keep-open --rewrite-host --cacert --insecure --alpn --cert --key --cert-out --max-streams --fault --fault-file --seed --write --allow-edit --show-secrets --protocol --framing --length-mode --schema --struct --signature --max-message --max-depth --no-resync --lint --dialect --allow --deny --secret-file --max-open --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --from)
                    COMPREPLY=($(compgen -W "auto raw hex xxd base64 jsonl text dump literal log recording pcap har page strace curl socat ngrep tcpflow tcpdump tshark" -- "${cur}"))
                    return 0
                    ;;
                --dir)
                    COMPREPLY=($(compgen -W "c2s s2c" -- "${cur}"))
                    return 0
                    ;;
                --c2s)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --s2c)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --clock)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --jobs)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --part-size)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --port)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --reassembly-limit)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --listen)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --connect)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --idle)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --keep-open)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cacert)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --alpn)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cert)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --key)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --cert-out)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-streams)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fault)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --fault-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --seed)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --write)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                -w)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --protocol)
                    COMPREPLY=($(compgen -W "saikuro oracle sael stepflow telequick mcp lsp acp jsonrpc dap cdp nvim i3" -- "${cur}"))
                    return 0
                    ;;
                -p)
                    COMPREPLY=($(compgen -W "saikuro oracle sael stepflow telequick mcp lsp acp jsonrpc dap cdp nvim i3" -- "${cur}"))
                    return 0
                    ;;
                --framing)
                    COMPREPLY=($(compgen -W "auto lines prefix method bare content-length websocket http http3 values header message fields" -- "${cur}"))
                    return 0
                    ;;
                --length-mode)
                    COMPREPLY=($(compgen -W "auto exclusive inclusive" -- "${cur}"))
                    return 0
                    ;;
                --schema)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --struct)
                    COMPREPLY=($(compgen -W "AbortBulkRequest AllocateWtRequest AllocateWtResponse AnswerIncomingCallRequest AnswerIncomingCallResponse AudioFrame BargeRequest BucketActionRequest BucketActionResponse BucketCallList BucketInfo BucketRequest BulkRequest BulkResponse CallEvent Empty EventStreamRequest ExecuteDialplanRequest ExecuteDialplanResponse GetIncomingCallsRequest GetIncomingCallsResponse IncomingCallInfo ListBucketsResponse OriginateRequest OriginateResponse SetInboundRoutingRequest SuperviseSubscribeRequest SuperviseSubscribeResponse TerminateRequest TerminateResponse" -- "${cur}"))
                    return 0
                    ;;
                --signature)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-message)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-depth)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --dialect)
                    COMPREPLY=($(compgen -W "document peers both" -- "${cur}"))
                    return 0
                    ;;
                --allow)
                    COMPREPLY=($(compgen -W "acp/answered-twice acp/batch acp/before-initialize acp/blank-line acp/call-failed acp/cancel-ignored acp/cancel-unknown acp/cancelled-unanswered acp/capability-missing acp/connection-missing acp/duplicate-id acp/duplicate-key acp/error-shape acp/id-fraction acp/id-range acp/id-type acp/id-type-changed acp/line-zero acp/malformed acp/method-type acp/missing-id acp/missing-param acp/not-a-message acp/not-json acp/notification-with-id acp/null-beside acp/null-id acp/open-limit acp/orphan acp/param-type acp/params-shape acp/permission-after-cancel acp/prompt-in-turn acp/refused acp/relative-path acp/request-without-id acp/result-and-error acp/result-beside-method acp/result-type acp/second-initialize acp/session-closed acp/session-ended acp/status-back acp/subprotocol-not-offered acp/terminal-released acp/tool-call-again acp/tool-call-running acp/unanswered acp/unknown-method acp/unknown-mode acp/unknown-option acp/unknown-session acp/unknown-terminal acp/unknown-tool-call acp/unknown-update acp/unknown-version acp/update-outside-turn acp/upgrade-refused acp/upgrade-unanswered acp/version acp/version-raised acp/wrong-direction cdp/answered-twice cdp/call-failed cdp/id-reused cdp/malformed cdp/no-match cdp/not-checked cdp/open-limit cdp/orphan cdp/subprotocol-not-offered cdp/unanswered cdp/upgrade-refused cdp/upgrade-unanswered cdp/wrong-direction cdp/wrong-type dap/after-terminated dap/answered-twice dap/call-failed dap/configuration-done-early dap/debugging-not-announced dap/id-reused dap/initialize-first dap/initialize-once dap/malformed dap/no-match dap/not-checked dap/open-limit dap/orphan dap/other-command dap/reverse-not-announced dap/reverse-wrong-side dap/seq-order dap/subprotocol-not-offered dap/unanswered dap/upgrade-refused dap/upgrade-unanswered dap/wrong-direction dap/wrong-side dap/wrong-type i3/answered-twice i3/call-failed i3/id-reused i3/malformed i3/no-match i3/not-checked i3/open-limit i3/orphan i3/subprotocol-not-offered i3/unanswered i3/upgrade-refused i3/upgrade-unanswered i3/wrong-direction i3/wrong-type jsonrpc/answered-twice jsonrpc/batch-answer jsonrpc/batch-empty jsonrpc/batch-member jsonrpc/blank-line jsonrpc/call-failed jsonrpc/duplicate-id jsonrpc/duplicate-key jsonrpc/error-shape jsonrpc/id-fraction jsonrpc/id-range jsonrpc/id-type jsonrpc/id-type-changed jsonrpc/malformed jsonrpc/method-type jsonrpc/missing-id jsonrpc/null-beside jsonrpc/null-id jsonrpc/open-limit jsonrpc/orphan jsonrpc/params-shape jsonrpc/refused jsonrpc/reserved-code jsonrpc/reserved-method jsonrpc/result-and-error jsonrpc/result-beside-method jsonrpc/stack-trace jsonrpc/subprotocol-not-offered jsonrpc/unanswered jsonrpc/upgrade-refused jsonrpc/upgrade-unanswered jsonrpc/version lsp/answered-twice lsp/batch lsp/call-failed lsp/cancel-unknown lsp/cancelled-unanswered lsp/change-kind lsp/charset lsp/client-capability lsp/configuration-length lsp/document-not-open lsp/document-opened-twice lsp/document-version lsp/duplicate-id lsp/duplicate-key lsp/error-shape lsp/exit-without-shutdown lsp/header-line-end lsp/header-spelling lsp/id-fraction lsp/id-range lsp/id-type lsp/id-type-changed lsp/initialized-missing lsp/length-repeated lsp/malformed lsp/method-type lsp/missing-id lsp/missing-param lsp/notification-before-initialize lsp/notification-with-id lsp/null-beside lsp/null-id lsp/open-limit lsp/orphan lsp/param-type lsp/params-shape lsp/partial-result lsp/position lsp/progress-end lsp/progress-order lsp/progress-token lsp/range lsp/request-after-shutdown lsp/request-before-initialize lsp/request-not-open lsp/request-without-id lsp/result-and-error lsp/result-beside-method lsp/result-type lsp/second-initialize lsp/selection-range lsp/semantic-tokens lsp/server-capability lsp/subprotocol-not-offered lsp/unanswered lsp/unknown-method lsp/upgrade-refused lsp/upgrade-unanswered lsp/version lsp/wrong-direction mcp/answer-after-cancel mcp/answered-twice mcp/batch mcp/batch-answer mcp/batch-empty mcp/batch-member mcp/before-initialize mcp/before-initialized mcp/blank-line mcp/call-failed mcp/cancel-initialize mcp/cancel-unknown mcp/cancelled-unanswered mcp/capability-missing mcp/content-type mcp/duplicate-id mcp/duplicate-key mcp/elicitation-schema mcp/era-mixed mcp/error-shape mcp/header-line-end mcp/header-mismatch mcp/id-fraction mcp/id-range mcp/id-type mcp/id-type-changed mcp/initialized-early mcp/input-not-asked mcp/input-request mcp/log-level mcp/malformed mcp/meta-missing mcp/method-type mcp/missing-content mcp/missing-id mcp/missing-param mcp/not-a-message mcp/not-in-version mcp/not-json mcp/notification-with-id mcp/null-beside mcp/null-id mcp/open-limit mcp/orphan mcp/param-type mcp/params-shape mcp/progress-after-answer mcp/progress-order mcp/progress-token mcp/progress-token-shared mcp/refused mcp/request-state mcp/request-without-id mcp/result-and-error mcp/result-beside-method mcp/result-type mcp/result-type-missing mcp/second-initialize mcp/server-request mcp/session-ended mcp/session-missing mcp/subprotocol-not-offered mcp/subscription-acknowledged mcp/subscription-id mcp/subscription-kind mcp/tool-arguments mcp/tool-changed mcp/tool-result mcp/unanswered mcp/unknown-cursor mcp/unknown-method mcp/unknown-tool mcp/unknown-version mcp/upgrade-refused mcp/upgrade-unanswered mcp/version mcp/version-header mcp/version-lowered mcp/wrong-direction nvim/answered-twice nvim/call-failed nvim/id-reused nvim/malformed nvim/no-match nvim/not-checked nvim/open-limit nvim/orphan nvim/subprotocol-not-offered nvim/unanswered nvim/upgrade-refused nvim/upgrade-unanswered nvim/wrong-direction nvim/wrong-type oracle/ack-id oracle/alive-after-refusal oracle/answer-after-eof oracle/answer-id oracle/backtrace oracle/blank-line oracle/call-failed oracle/calldata-surplus oracle/calldata-type oracle/connection-cr oracle/connection-shell oracle/crlf oracle/cut-line oracle/desync oracle/died-in-invoke oracle/error-code oracle/error-code-range oracle/error-shape oracle/extra-line oracle/felt-form oracle/felt-range oracle/felt-spelling oracle/first-byte oracle/first-not-ready oracle/id-form oracle/id-order oracle/invoke-after-shutdown oracle/invoke-no-id oracle/invoke-params oracle/invoke-unacknowledged oracle/left-idle oracle/lone-cr oracle/lone-surrogate oracle/long-line oracle/malformed oracle/nesting oracle/no-ready oracle/no-result oracle/no-shutdown oracle/not-a-message oracle/not-an-object oracle/not-json oracle/not-unicode oracle/null-id oracle/open-limit oracle/oracle-asks oracle/output-after-shutdown oracle/overlap oracle/positional-params oracle/ready-params oracle/ready-twice oracle/repeated-key oracle/result-and-error oracle/result-shape oracle/result-surplus oracle/result-type oracle/shutdown-id oracle/shutdown-params oracle/speaks-before-ready oracle/stray-ack oracle/subprotocol-not-offered oracle/trailing-bytes oracle/unanswered oracle/unknown-member oracle/unknown-method oracle/upgrade-refused oracle/upgrade-unanswered oracle/version sael/ack-undefined sael/after-bye sael/anonymous-effect sael/anonymous-resume sael/anonymous-subscription sael/answer-after-end sael/answer-kind sael/answer-unasked sael/auth-type sael/bind-nothing sael/bind-without-tool sael/call-both sael/call-empty sael/call-failed sael/cancel-kind sael/cancel-late sael/cancel-unknown sael/capability-denied sael/capability-ignored sael/client-silent sael/cost-over-limit sael/delta-mixed sael/delta-snapshot sael/delta-undeclared sael/dropped-call sael/dropped-subscription sael/error-code sael/error-code-extra sael/event-after-unsubscribe sael/event-early sael/field-missing sael/filter-odd sael/header-form sael/heartbeat-echo sael/heartbeat-late sael/heartbeat-unanswered sael/heartbeat-unit sael/hey-again sael/hey-answer sael/hey-first sael/hey-unanswered sael/input-unchecked sael/item-content sael/json-in-binary sael/kind-direction sael/kind-unknown sael/login-error-seq sael/login-refused sael/malformed sael/mask sael/msgpack-unagreed sael/open-limit sael/parallel-shape sael/refused-goes-on sael/replay-count sael/replay-lost sael/replay-many sael/replay-old sael/replay-twice sael/resume-ahead sael/resume-unknown sael/scope-differs sael/seq-missing sael/seq-not-rising sael/seq-reused sael/seq-value sael/span-id sael/stage-kind sael/stage-unsupported sael/stage-value sael/still-sending sael/stream-ends-with-result sael/stream-not-streamed sael/stream-survived sael/stream-undeclared sael/subprotocol-name sael/subprotocol-not-offered sael/subscription-id sael/subscription-unknown sael/text-despite-msgpack sael/token-claims sael/token-client sael/token-expired sael/token-exposed sael/token-in-clear sael/token-issued-later sael/token-long-lived sael/token-not-yet sael/token-shape sael/token-signature sael/tool-cost sael/tool-effect sael/tool-unlisted sael/trace-dropped sael/trace-id sael/trace-mismatch sael/unanswered sael/upgrade-refused sael/upgrade-unanswered sael/version-missing sael/version-mixed sael/version-unknown sael/window-exceeded sael/window-value saikuro/ack-namespace saikuro/after-end saikuro/after-own-close saikuro/ambiguous-id saikuro/announce-late saikuro/announce-refused saikuro/answer-id-form saikuro/args-unfit saikuro/bad-error saikuro/bad-field saikuro/bad-id saikuro/bad-schema saikuro/bad-target saikuro/bad-text saikuro/bad-version saikuro/batch-count saikuro/batch-duplicate-id saikuro/batch-ok saikuro/batch-order saikuro/batch-without-target saikuro/call-failed saikuro/capability-missing saikuro/capability-undeclared saikuro/cast-answered saikuro/cast-refused saikuro/channel-item-refused saikuro/channel-not-closed saikuro/document-capability saikuro/document-error-code saikuro/duplicate-key saikuro/empty-batch saikuro/empty-frame saikuro/error-missing saikuro/extension-value saikuro/frame-too-long saikuro/id-reused saikuro/item-from-opener saikuro/items-unacknowledged saikuro/late-answer saikuro/log-answered saikuro/malformed saikuro/mask saikuro/missing-args saikuro/missing-id saikuro/mixed-error-codes saikuro/namespace-twice saikuro/non-string-key saikuro/not-messagepack saikuro/ok-with-error saikuro/open-limit saikuro/out-of-order saikuro/own-namespace saikuro/peers-capability saikuro/peers-error-code saikuro/peers-type saikuro/random-id saikuro/result-missing saikuro/result-unfit saikuro/schema-kind saikuro/schema-version saikuro/second-answer saikuro/seq-gap saikuro/seq-repeated saikuro/seq-start saikuro/stream-answered saikuro/stream-not-aborted saikuro/stream-unfinished saikuro/subprotocol-not-offered saikuro/text-frame saikuro/trailing-bytes saikuro/unanswered saikuro/unknown-error-code saikuro/unknown-id saikuro/unknown-message saikuro/unknown-type saikuro/unread-version saikuro/upgrade-refused saikuro/upgrade-unanswered stepflow/accept stepflow/answer-after-eof stepflow/answer-before-callback stepflow/answer-missing stepflow/answered-twice stepflow/attempt stepflow/before-initialize stepflow/before-initialized stepflow/blank-line stepflow/blob-id stepflow/blob-unknown stepflow/call-failed stepflow/callback-answer-refused stepflow/callback-outside-execute stepflow/component-object stepflow/content-type stepflow/crlf stepflow/duplicate-id stepflow/duplicate-key stepflow/error-code stepflow/error-message stepflow/error-shape stepflow/event-after-answer stepflow/id-range stepflow/id-type stepflow/id-type-changed stepflow/initialize-unanswered stepflow/initialized-early stepflow/lone-cr stepflow/long-answer stepflow/long-line stepflow/malformed stepflow/missing-id stepflow/missing-param stepflow/missing-result stepflow/mixed-releases stepflow/not-a-message stepflow/not-an-object stepflow/not-json stepflow/not-text stepflow/notification-answered stepflow/notification-with-id stepflow/null-beside stepflow/null-id stepflow/null-id-error stepflow/null-result stepflow/open-limit stepflow/orphan stepflow/out-of-order stepflow/param-type stepflow/params-missing stepflow/params-type stepflow/refused stepflow/request-in-body stepflow/request-without-id stepflow/result-and-error stepflow/result-beside-method stepflow/result-type stepflow/second-initialize stepflow/span-id stepflow/stream-ends-early stepflow/subprotocol-not-offered stepflow/trace-id stepflow/trailing-bytes stepflow/unanswered stepflow/unknown-method stepflow/unknown-notification stepflow/upgrade-refused stepflow/upgrade-unanswered stepflow/version-mismatch stepflow/version-missing stepflow/version-wrong stepflow/wrong-answer stepflow/wrong-direction telequick/audio-after-end telequick/audio-empty telequick/audio-order telequick/audio-size telequick/call-failed telequick/call-over telequick/call-too-early telequick/codec-change telequick/compat-above-version telequick/cut-short telequick/dial-action telequick/disputed-id telequick/dtmf-args telequick/early-statistics telequick/envelope-overrun telequick/error-without-message telequick/event-after-hangup telequick/event-order telequick/field-overrun telequick/flavour-change telequick/frame-length telequick/frame-limit telequick/gateway-verb telequick/hold-order telequick/inclusive-length telequick/invalid-text telequick/jitter-range telequick/legacy-id telequick/malformed telequick/message-without-error telequick/missing-fields telequick/misspelt-id telequick/mos-range telequick/negative-size telequick/newer-version telequick/no-end-of-stream telequick/no-subscription telequick/not-finite telequick/nul-in-string telequick/odd-bool telequick/older-version telequick/open-limit telequick/peer-limit telequick/seq-back telequick/seq-gap telequick/shared-stream telequick/string-length telequick/subprotocol-not-offered telequick/time-order telequick/too-deep telequick/trailing-bytes telequick/unanswered telequick/unasked telequick/unexpected-tail telequick/unframed-answer telequick/unknown-call telequick/unknown-codec telequick/unknown-enum telequick/unknown-event telequick/unknown-method telequick/unreadable-version telequick/upgrade-refused telequick/upgrade-unanswered telequick/vector-count telequick/verb-too-early telequick/wrong-client telequick/wrong-stream" -- "${cur}"))
                    return 0
                    ;;
                --deny)
                    COMPREPLY=($(compgen -W "acp/answered-twice acp/batch acp/before-initialize acp/blank-line acp/call-failed acp/cancel-ignored acp/cancel-unknown acp/cancelled-unanswered acp/capability-missing acp/connection-missing acp/duplicate-id acp/duplicate-key acp/error-shape acp/id-fraction acp/id-range acp/id-type acp/id-type-changed acp/line-zero acp/malformed acp/method-type acp/missing-id acp/missing-param acp/not-a-message acp/not-json acp/notification-with-id acp/null-beside acp/null-id acp/open-limit acp/orphan acp/param-type acp/params-shape acp/permission-after-cancel acp/prompt-in-turn acp/refused acp/relative-path acp/request-without-id acp/result-and-error acp/result-beside-method acp/result-type acp/second-initialize acp/session-closed acp/session-ended acp/status-back acp/subprotocol-not-offered acp/terminal-released acp/tool-call-again acp/tool-call-running acp/unanswered acp/unknown-method acp/unknown-mode acp/unknown-option acp/unknown-session acp/unknown-terminal acp/unknown-tool-call acp/unknown-update acp/unknown-version acp/update-outside-turn acp/upgrade-refused acp/upgrade-unanswered acp/version acp/version-raised acp/wrong-direction cdp/answered-twice cdp/call-failed cdp/id-reused cdp/malformed cdp/no-match cdp/not-checked cdp/open-limit cdp/orphan cdp/subprotocol-not-offered cdp/unanswered cdp/upgrade-refused cdp/upgrade-unanswered cdp/wrong-direction cdp/wrong-type dap/after-terminated dap/answered-twice dap/call-failed dap/configuration-done-early dap/debugging-not-announced dap/id-reused dap/initialize-first dap/initialize-once dap/malformed dap/no-match dap/not-checked dap/open-limit dap/orphan dap/other-command dap/reverse-not-announced dap/reverse-wrong-side dap/seq-order dap/subprotocol-not-offered dap/unanswered dap/upgrade-refused dap/upgrade-unanswered dap/wrong-direction dap/wrong-side dap/wrong-type i3/answered-twice i3/call-failed i3/id-reused i3/malformed i3/no-match i3/not-checked i3/open-limit i3/orphan i3/subprotocol-not-offered i3/unanswered i3/upgrade-refused i3/upgrade-unanswered i3/wrong-direction i3/wrong-type jsonrpc/answered-twice jsonrpc/batch-answer jsonrpc/batch-empty jsonrpc/batch-member jsonrpc/blank-line jsonrpc/call-failed jsonrpc/duplicate-id jsonrpc/duplicate-key jsonrpc/error-shape jsonrpc/id-fraction jsonrpc/id-range jsonrpc/id-type jsonrpc/id-type-changed jsonrpc/malformed jsonrpc/method-type jsonrpc/missing-id jsonrpc/null-beside jsonrpc/null-id jsonrpc/open-limit jsonrpc/orphan jsonrpc/params-shape jsonrpc/refused jsonrpc/reserved-code jsonrpc/reserved-method jsonrpc/result-and-error jsonrpc/result-beside-method jsonrpc/stack-trace jsonrpc/subprotocol-not-offered jsonrpc/unanswered jsonrpc/upgrade-refused jsonrpc/upgrade-unanswered jsonrpc/version lsp/answered-twice lsp/batch lsp/call-failed lsp/cancel-unknown lsp/cancelled-unanswered lsp/change-kind lsp/charset lsp/client-capability lsp/configuration-length lsp/document-not-open lsp/document-opened-twice lsp/document-version lsp/duplicate-id lsp/duplicate-key lsp/error-shape lsp/exit-without-shutdown lsp/header-line-end lsp/header-spelling lsp/id-fraction lsp/id-range lsp/id-type lsp/id-type-changed lsp/initialized-missing lsp/length-repeated lsp/malformed lsp/method-type lsp/missing-id lsp/missing-param lsp/notification-before-initialize lsp/notification-with-id lsp/null-beside lsp/null-id lsp/open-limit lsp/orphan lsp/param-type lsp/params-shape lsp/partial-result lsp/position lsp/progress-end lsp/progress-order lsp/progress-token lsp/range lsp/request-after-shutdown lsp/request-before-initialize lsp/request-not-open lsp/request-without-id lsp/result-and-error lsp/result-beside-method lsp/result-type lsp/second-initialize lsp/selection-range lsp/semantic-tokens lsp/server-capability lsp/subprotocol-not-offered lsp/unanswered lsp/unknown-method lsp/upgrade-refused lsp/upgrade-unanswered lsp/version lsp/wrong-direction mcp/answer-after-cancel mcp/answered-twice mcp/batch mcp/batch-answer mcp/batch-empty mcp/batch-member mcp/before-initialize mcp/before-initialized mcp/blank-line mcp/call-failed mcp/cancel-initialize mcp/cancel-unknown mcp/cancelled-unanswered mcp/capability-missing mcp/content-type mcp/duplicate-id mcp/duplicate-key mcp/elicitation-schema mcp/era-mixed mcp/error-shape mcp/header-line-end mcp/header-mismatch mcp/id-fraction mcp/id-range mcp/id-type mcp/id-type-changed mcp/initialized-early mcp/input-not-asked mcp/input-request mcp/log-level mcp/malformed mcp/meta-missing mcp/method-type mcp/missing-content mcp/missing-id mcp/missing-param mcp/not-a-message mcp/not-in-version mcp/not-json mcp/notification-with-id mcp/null-beside mcp/null-id mcp/open-limit mcp/orphan mcp/param-type mcp/params-shape mcp/progress-after-answer mcp/progress-order mcp/progress-token mcp/progress-token-shared mcp/refused mcp/request-state mcp/request-without-id mcp/result-and-error mcp/result-beside-method mcp/result-type mcp/result-type-missing mcp/second-initialize mcp/server-request mcp/session-ended mcp/session-missing mcp/subprotocol-not-offered mcp/subscription-acknowledged mcp/subscription-id mcp/subscription-kind mcp/tool-arguments mcp/tool-changed mcp/tool-result mcp/unanswered mcp/unknown-cursor mcp/unknown-method mcp/unknown-tool mcp/unknown-version mcp/upgrade-refused mcp/upgrade-unanswered mcp/version mcp/version-header mcp/version-lowered mcp/wrong-direction nvim/answered-twice nvim/call-failed nvim/id-reused nvim/malformed nvim/no-match nvim/not-checked nvim/open-limit nvim/orphan nvim/subprotocol-not-offered nvim/unanswered nvim/upgrade-refused nvim/upgrade-unanswered nvim/wrong-direction nvim/wrong-type oracle/ack-id oracle/alive-after-refusal oracle/answer-after-eof oracle/answer-id oracle/backtrace oracle/blank-line oracle/call-failed oracle/calldata-surplus oracle/calldata-type oracle/connection-cr oracle/connection-shell oracle/crlf oracle/cut-line oracle/desync oracle/died-in-invoke oracle/error-code oracle/error-code-range oracle/error-shape oracle/extra-line oracle/felt-form oracle/felt-range oracle/felt-spelling oracle/first-byte oracle/first-not-ready oracle/id-form oracle/id-order oracle/invoke-after-shutdown oracle/invoke-no-id oracle/invoke-params oracle/invoke-unacknowledged oracle/left-idle oracle/lone-cr oracle/lone-surrogate oracle/long-line oracle/malformed oracle/nesting oracle/no-ready oracle/no-result oracle/no-shutdown oracle/not-a-message oracle/not-an-object oracle/not-json oracle/not-unicode oracle/null-id oracle/open-limit oracle/oracle-asks oracle/output-after-shutdown oracle/overlap oracle/positional-params oracle/ready-params oracle/ready-twice oracle/repeated-key oracle/result-and-error oracle/result-shape oracle/result-surplus oracle/result-type oracle/shutdown-id oracle/shutdown-params oracle/speaks-before-ready oracle/stray-ack oracle/subprotocol-not-offered oracle/trailing-bytes oracle/unanswered oracle/unknown-member oracle/unknown-method oracle/upgrade-refused oracle/upgrade-unanswered oracle/version sael/ack-undefined sael/after-bye sael/anonymous-effect sael/anonymous-resume sael/anonymous-subscription sael/answer-after-end sael/answer-kind sael/answer-unasked sael/auth-type sael/bind-nothing sael/bind-without-tool sael/call-both sael/call-empty sael/call-failed sael/cancel-kind sael/cancel-late sael/cancel-unknown sael/capability-denied sael/capability-ignored sael/client-silent sael/cost-over-limit sael/delta-mixed sael/delta-snapshot sael/delta-undeclared sael/dropped-call sael/dropped-subscription sael/error-code sael/error-code-extra sael/event-after-unsubscribe sael/event-early sael/field-missing sael/filter-odd sael/header-form sael/heartbeat-echo sael/heartbeat-late sael/heartbeat-unanswered sael/heartbeat-unit sael/hey-again sael/hey-answer sael/hey-first sael/hey-unanswered sael/input-unchecked sael/item-content sael/json-in-binary sael/kind-direction sael/kind-unknown sael/login-error-seq sael/login-refused sael/malformed sael/mask sael/msgpack-unagreed sael/open-limit sael/parallel-shape sael/refused-goes-on sael/replay-count sael/replay-lost sael/replay-many sael/replay-old sael/replay-twice sael/resume-ahead sael/resume-unknown sael/scope-differs sael/seq-missing sael/seq-not-rising sael/seq-reused sael/seq-value sael/span-id sael/stage-kind sael/stage-unsupported sael/stage-value sael/still-sending sael/stream-ends-with-result sael/stream-not-streamed sael/stream-survived sael/stream-undeclared sael/subprotocol-name sael/subprotocol-not-offered sael/subscription-id sael/subscription-unknown sael/text-despite-msgpack sael/token-claims sael/token-client sael/token-expired sael/token-exposed sael/token-in-clear sael/token-issued-later sael/token-long-lived sael/token-not-yet sael/token-shape sael/token-signature sael/tool-cost sael/tool-effect sael/tool-unlisted sael/trace-dropped sael/trace-id sael/trace-mismatch sael/unanswered sael/upgrade-refused sael/upgrade-unanswered sael/version-missing sael/version-mixed sael/version-unknown sael/window-exceeded sael/window-value saikuro/ack-namespace saikuro/after-end saikuro/after-own-close saikuro/ambiguous-id saikuro/announce-late saikuro/announce-refused saikuro/answer-id-form saikuro/args-unfit saikuro/bad-error saikuro/bad-field saikuro/bad-id saikuro/bad-schema saikuro/bad-target saikuro/bad-text saikuro/bad-version saikuro/batch-count saikuro/batch-duplicate-id saikuro/batch-ok saikuro/batch-order saikuro/batch-without-target saikuro/call-failed saikuro/capability-missing saikuro/capability-undeclared saikuro/cast-answered saikuro/cast-refused saikuro/channel-item-refused saikuro/channel-not-closed saikuro/document-capability saikuro/document-error-code saikuro/duplicate-key saikuro/empty-batch saikuro/empty-frame saikuro/error-missing saikuro/extension-value saikuro/frame-too-long saikuro/id-reused saikuro/item-from-opener saikuro/items-unacknowledged saikuro/late-answer saikuro/log-answered saikuro/malformed saikuro/mask saikuro/missing-args saikuro/missing-id saikuro/mixed-error-codes saikuro/namespace-twice saikuro/non-string-key saikuro/not-messagepack saikuro/ok-with-error saikuro/open-limit saikuro/out-of-order saikuro/own-namespace saikuro/peers-capability saikuro/peers-error-code saikuro/peers-type saikuro/random-id saikuro/result-missing saikuro/result-unfit saikuro/schema-kind saikuro/schema-version saikuro/second-answer saikuro/seq-gap saikuro/seq-repeated saikuro/seq-start saikuro/stream-answered saikuro/stream-not-aborted saikuro/stream-unfinished saikuro/subprotocol-not-offered saikuro/text-frame saikuro/trailing-bytes saikuro/unanswered saikuro/unknown-error-code saikuro/unknown-id saikuro/unknown-message saikuro/unknown-type saikuro/unread-version saikuro/upgrade-refused saikuro/upgrade-unanswered stepflow/accept stepflow/answer-after-eof stepflow/answer-before-callback stepflow/answer-missing stepflow/answered-twice stepflow/attempt stepflow/before-initialize stepflow/before-initialized stepflow/blank-line stepflow/blob-id stepflow/blob-unknown stepflow/call-failed stepflow/callback-answer-refused stepflow/callback-outside-execute stepflow/component-object stepflow/content-type stepflow/crlf stepflow/duplicate-id stepflow/duplicate-key stepflow/error-code stepflow/error-message stepflow/error-shape stepflow/event-after-answer stepflow/id-range stepflow/id-type stepflow/id-type-changed stepflow/initialize-unanswered stepflow/initialized-early stepflow/lone-cr stepflow/long-answer stepflow/long-line stepflow/malformed stepflow/missing-id stepflow/missing-param stepflow/missing-result stepflow/mixed-releases stepflow/not-a-message stepflow/not-an-object stepflow/not-json stepflow/not-text stepflow/notification-answered stepflow/notification-with-id stepflow/null-beside stepflow/null-id stepflow/null-id-error stepflow/null-result stepflow/open-limit stepflow/orphan stepflow/out-of-order stepflow/param-type stepflow/params-missing stepflow/params-type stepflow/refused stepflow/request-in-body stepflow/request-without-id stepflow/result-and-error stepflow/result-beside-method stepflow/result-type stepflow/second-initialize stepflow/span-id stepflow/stream-ends-early stepflow/subprotocol-not-offered stepflow/trace-id stepflow/trailing-bytes stepflow/unanswered stepflow/unknown-method stepflow/unknown-notification stepflow/upgrade-refused stepflow/upgrade-unanswered stepflow/version-mismatch stepflow/version-missing stepflow/version-wrong stepflow/wrong-answer stepflow/wrong-direction telequick/audio-after-end telequick/audio-empty telequick/audio-order telequick/audio-size telequick/call-failed telequick/call-over telequick/call-too-early telequick/codec-change telequick/compat-above-version telequick/cut-short telequick/dial-action telequick/disputed-id telequick/dtmf-args telequick/early-statistics telequick/envelope-overrun telequick/error-without-message telequick/event-after-hangup telequick/event-order telequick/field-overrun telequick/flavour-change telequick/frame-length telequick/frame-limit telequick/gateway-verb telequick/hold-order telequick/inclusive-length telequick/invalid-text telequick/jitter-range telequick/legacy-id telequick/malformed telequick/message-without-error telequick/missing-fields telequick/misspelt-id telequick/mos-range telequick/negative-size telequick/newer-version telequick/no-end-of-stream telequick/no-subscription telequick/not-finite telequick/nul-in-string telequick/odd-bool telequick/older-version telequick/open-limit telequick/peer-limit telequick/seq-back telequick/seq-gap telequick/shared-stream telequick/string-length telequick/subprotocol-not-offered telequick/time-order telequick/too-deep telequick/trailing-bytes telequick/unanswered telequick/unasked telequick/unexpected-tail telequick/unframed-answer telequick/unknown-call telequick/unknown-codec telequick/unknown-enum telequick/unknown-event telequick/unknown-method telequick/unreadable-version telequick/upgrade-refused telequick/upgrade-unanswered telequick/vector-count telequick/verb-too-early telequick/wrong-client telequick/wrong-stream" -- "${cur}"))
                    return 0
                    ;;
                --secret-file)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --max-open)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
        wiretool__subcmd__wrap)
            opts="-q -v -h --client --in --entry --dry-run --launcher --color --quiet --verbose --config --help"
            if [[ ${cur} == -* || ${COMP_CWORD} -eq 2 ]] ; then
                COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
                return 0
            fi
            case "${prev}" in
                --client)
                    COMPREPLY=($(compgen -W "claude-desktop claude-code cursor vscode windsurf zed gemini-cli codex helix mcphub.nvim" -- "${cur}"))
                    return 0
                    ;;
                --in)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --entry)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --launcher)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                --color)
                    COMPREPLY=($(compgen -W "auto always never" -- "${cur}"))
                    return 0
                    ;;
                --config)
                    COMPREPLY=($(compgen -f "${cur}"))
                    return 0
                    ;;
                *)
                    COMPREPLY=()
                    ;;
            esac
            COMPREPLY=( $(compgen -W "${opts}" -- "${cur}") )
            return 0
            ;;
    esac
}

if [[ "${BASH_VERSINFO[0]}" -eq 4 && "${BASH_VERSINFO[1]}" -ge 4 || "${BASH_VERSINFO[0]}" -gt 4 ]]; then
    complete -F _wiretool -o nosort -o bashdefault -o default wiretool
else
    complete -F _wiretool -o bashdefault -o default wiretool
fi
