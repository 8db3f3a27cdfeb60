/** `findling completion bash|zsh|fish`: completion scripts, made from the tables of commands and settings. */
import { settings } from '../config.ts'
import { AppError } from '../lib/errors.ts'
import { write, type Call, type Command } from './command.ts'

type Commands = Readonly<Record<string, Command>>
/** What may follow: one of some words, a path, anything else, or nothing. */
type Wanted = { kind: 'words'; words: readonly string[] } | { kind: 'path' | 'text' | 'nothing' }
type Option = { name: string; short: string | undefined; about: string; wanted: Wanted }
type Entry = { name: string; about: string; operand: Wanted; options: Option[] }

export const shells = ['bash', 'zsh', 'fish'] as const

export async function completionCommand(call: Call, commands: Commands): Promise<number> {
  const shell = shells.find((each) => each === call.operands[0])
  if (shell === undefined)
    throw new AppError('usage', `completion ${call.operands[0]}: bash, zsh or fish is wanted.`)
  await write(completionScript(shell, commands))
  return 0
}

export function completionScript(shell: (typeof shells)[number], commands: Commands): string {
  const entries = Object.entries(commands).map(([name, command]) => entryOf(name, command))
  const general: Option[] = [
    { name: 'help', short: 'h', about: 'Shows the help.', wanted: { kind: 'nothing' } },
    { name: 'config', short: undefined, about: 'Configuration file.', wanted: { kind: 'path' } },
    ...Object.entries(settings).map(([name, setting]): Option => ({
      name,
      short: undefined,
      about: setting.about,
      wanted:
        setting.type === 'choice'
          ? { kind: 'words', words: setting.of }
          : { kind: name === 'data' ? 'path' : 'text' },
    })),
  ]
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](entries, general)
}

const entryOf = (name: string, { about, synopsis, options }: Command): Entry => ({
  name,
  about,
  operand: wantedBy(synopsis),
  options: Object.entries(options).map(([option, { short, about: text, type, value }]) => ({
    name: option,
    short,
    about: text,
    wanted: type === 'boolean' ? { kind: 'nothing' } : wantedBy(value ?? 'VALUE'),
  })),
})

/** Lower case words parted by | are a choice; FILE, FOLDER and DIR are paths; other names are free text. */
function wantedBy(synopsis: string): Wanted {
  if (synopsis === '') return { kind: 'nothing' }
  const words = synopsis.split('|')
  if (words.length > 1 && words.every((word) => /^[a-z]+$/.test(word)))
    return { kind: 'words', words }
  return { kind: words.some((word) => /^(?:FILE|FOLDER|DIR)$/.test(word)) ? 'path' : 'text' }
}

const flagsOf = ({ name, short }: Option): string[] =>
  short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`]
const single = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

function bashScript(entries: readonly Entry[], general: readonly Option[]): string {
  const reply = (wanted: Wanted): string =>
    wanted.kind === 'words'
      ? `mapfile -t COMPREPLY < <(compgen -W ${single(wanted.words.join(' '))} -- "$cur")`
      : wanted.kind === 'path'
        ? 'mapfile -t COMPREPLY < <(compgen -f -- "$cur")'
        : 'COMPREPLY=()'
  const values = (options: readonly Option[], prefix: string): string =>
    options
      .filter(({ wanted }) => wanted.kind !== 'nothing')
      .map(
        (option) =>
          `    ${flagsOf(option)
            .map((flag) => `${prefix}${flag}`)
            .join('|')}) ${reply(option.wanted)}; return ;;`,
      )
      .join('\n')
  const flags = (options: readonly Option[]): string => options.flatMap(flagsOf).join(' ')
  const names = entries.map(({ name }) => name)
  return `# bash completion of findling: source <(findling completion bash)
_findling() {
  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} command= options word
  # --option=value comes as three words.
  if [[ $cur == = ]]; then cur=
  elif [[ $prev == = ]]; then prev=\${COMP_WORDS[COMP_CWORD-2]}
  fi
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in ${names.join('|')}) command=$word; break ;; esac
  done
  case $command:$prev in
${entries
  .map(({ name, options }) => values(options, `${name}:`))
  .filter((text) => text !== '')
  .join('\n')}
  esac
  case $prev in
${values(general, '')}
  esac
  options=${single(flags(general))}
  if [[ $cur == -* ]]; then
    case $command in
${entries
  .filter(({ options }) => options.length > 0)
  .map(({ name, options }) => `      ${name}) options="$options ${flags(options)}" ;;`)
  .join('\n')}
    esac
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
    return
  fi
  case $command in
    '') ${reply({ kind: 'words', words: names })} ;;
${entries.map(({ name, operand }) => `    ${name}) ${reply(operand)} ;;`).join('\n')}
  esac
}
complete -o filenames -F _findling findling
`
}

function zshScript(entries: readonly Entry[], general: readonly Option[]): string {
  const escape = (text: string): string => text.replaceAll(/[[\]:\\]/g, '\\$&')
  const value = (wanted: Wanted): string =>
    wanted.kind === 'nothing'
      ? ''
      : wanted.kind === 'words'
        ? `:value:(${wanted.words.join(' ')})`
        : wanted.kind === 'path'
          ? ':path:_files'
          : ':value: '
  const spec = (option: Option): string[] =>
    flagsOf(option).map((flag) => {
      const long = flag.startsWith('--') && option.wanted.kind !== 'nothing' ? '=' : ''
      return single(`*${flag}${long}[${escape(option.about)}]${value(option.wanted)}`)
    })
  const operand = (wanted: Wanted): string =>
    wanted.kind === 'words'
      ? single(`*:operand:(${wanted.words.join(' ')})`)
      : single(wanted.kind === 'path' ? '*:path:_files' : '*:operand: ')
  return `#compdef findling
# zsh completion of findling: findling completion zsh > a folder of your fpath, as _findling
_findling() {
  local -a general commands
  local curcontext=$curcontext state line
  general=(
${general
  .flatMap(spec)
  .map((text) => `    ${text}`)
  .join('\n')}
  )
  commands=(
${entries.map(({ name, about }) => `    ${single(`${name}:${escape(about)}`)}`).join('\n')}
  )
  _arguments -C $general '1:command:->command' '*::operand:->rest'
  case $state in
    command) _describe command commands ;;
    rest)
      case $line[1] in
${entries
  .map(
    ({ name, options, operand: wanted }) =>
      `        ${name}) _arguments $general ${[...options.flatMap(spec), operand(wanted)].join(' ')} ;;`,
  )
  .join('\n')}
      esac ;;
  esac
}
if [ "$funcstack[1]" = _findling ]; then _findling "$@"; else compdef _findling findling; fi
`
}

function fishScript(entries: readonly Entry[], general: readonly Option[]): string {
  const escape = (text: string): string =>
    `'${text.replaceAll('\\', '\\\\').replaceAll("'", String.raw`\'`)}'`
  const names = entries.map(({ name }) => name).join(' ')
  const value = (wanted: Wanted): string =>
    wanted.kind === 'words'
      ? ` -x -a ${escape(wanted.words.join(' '))}`
      : wanted.kind === 'path'
        ? ' -r -F'
        : wanted.kind === 'text'
          ? ' -x'
          : ''
  const line = (option: Option, condition: string): string =>
    `complete -c findling${condition} -l ${option.name}${option.short === undefined ? '' : ` -s ${option.short}`} -d ${escape(option.about)}${value(option.wanted)}`
  const within = (name: string): string => ` -n ${escape(`__fish_seen_subcommand_from ${name}`)}`
  const lines = entries.flatMap(({ name, about, options, operand }) => [
    `complete -c findling -n ${escape(`not __fish_seen_subcommand_from ${names}`)} -a ${name} -d ${escape(about)}`,
    ...options.map((option) => line(option, within(name))),
    ...(operand.kind === 'words'
      ? [`complete -c findling${within(name)} -a ${escape(operand.words.join(' '))}`]
      : operand.kind === 'path'
        ? [`complete -c findling${within(name)} -F`]
        : []),
  ])
  return `# fish completion of findling: findling completion fish > ~/.config/fish/completions/findling.fish
complete -c findling -f
${[...general.map((option) => line(option, '')), ...lines].join('\n')}
`
}
