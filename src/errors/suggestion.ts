import {isAbsolute, join} from 'node:path';
import {isDeepStrictEqual} from 'node:util';
import {flagValue, shellLine} from '../text/suggest.js';

/** A command that users are told to run: the ID of one of mycli's commands, and its arguments. */
export interface CommandToRun {
  /** The words after `mycli`. */
  readonly run: readonly (string | number)[];
  /** Whether it is what the run was to do, with the flags that were typed. @default false */
  readonly again?: boolean;
  /** The folder of another project, relative to that of the run, whose configuration does not apply there. */
  readonly project?: string | undefined;
}

/** What a user can do, in a sentence. Commands in it are data: whoever shows them decides how to spell them. */
export type Suggestion = string | readonly (string | CommandToRun)[];

export function partsOf(suggestion: Suggestion): readonly (string | CommandToRun)[] {
  return typeof suggestion === 'string' ? [suggestion] : suggestion;
}

/** A suggestion as text, for programs. */
export function suggestionText(suggestion: Suggestion, surroundings = nowhere): string {
  return partsOf(suggestion)
    .map((part) =>
      typeof part === 'string' ? part : shellLine(...surroundings.program, ...completeCommand(part, surroundings)),
    )
    .join('');
}

/** A setting of a run, as the values of the flag that a suggested command has for it. */
export interface RunSetting {
  readonly flag: `--${string}`;
  /** What the run has resolved. Empty: nothing. */
  readonly run: readonly string[];
  /** What a fresh shell in the same folder resolves, without the flags and variables of the run. */
  readonly fresh: readonly string[];
}

/** A flag of the command line. */
export interface TypedFlag {
  readonly flag: `--${string}`;
  /** What to type for it again. */
  readonly words: readonly string[];
  readonly commands: readonly string[];
}

/** What a run knows that a command in a fresh shell does not. */
export interface RunSurroundings {
  /** How the user runs mycli. */
  readonly program: readonly string[];
  /** The folder, and the flag of the configuration file, if they were typed. */
  readonly folder: string;
  readonly config: readonly string[];
  /** Those that no other member has. */
  readonly typed: readonly TypedFlag[];
  readonly settings: readonly RunSetting[];
}

/** What suggested commands have for a value that is never shown. mycli refuses it, so that nothing else is reached. */
export const hiddenValue = '…';

/** A word of a flag without its value: `url=…` of `--backend-option`, `--message=…`. */
export function hiddenWord(flag: string, word: string): string {
  const [name = ''] = (flag === '--backend-option' ? /^[^=]*=/ : /^--[\w-]+=/).exec(word) ?? [];
  return name + hiddenValue;
}

/** For a call, not a run of a command. */
export const nowhere: RunSurroundings = {program: ['mycli'], folder: '', config: [], typed: [], settings: []};

const legacy = ['--origin', '--api-key'];
const api = ['--api-origin', '--organization', '--api-token', '--client-secret'];
const plugins = ['--backend-option'];
/** Of a login alone. */
const legacyLogin = ['--api-user'];
const apiLogin = ['--token-url', '--client-id', '--scope'];
const login = [...legacyLogin, ...apiLogin, ...plugins];
const limits = ['--request-timeout', '--connect-timeout'];
const project = ['--project', '--runtime-backend', ...limits, ...legacy, ...api, ...plugins];
const target = [...project, '--target'];
const folders = ['--project-directory', '--build-directory'];

/**
 * The flags by which the commands that can be suggested reach what they act on. Others, such as those about plugins,
 * depend on no setting. `init` and `config:show` are about the settings themselves.
 */
export const flagsOfCommands: Readonly<Record<string, readonly string[]>> = {
  'auth:login': ['--runtime-backend', '--origin', '--api-origin', '--organization', ...login],
  'auth:status': [],
  'backend:list': [],
  'bundle:build': ['--project', ...folders],
  'bundle:delete': project,
  'bundle:deploy': target,
  'bundle:diff': project,
  'bundle:history': target,
  'bundle:inspect': project,
  'bundle:list': project,
  'bundle:promote': target,
  'bundle:push': [...target, ...folders],
  'bundle:rollback': target,
  'config:show': [],
  doctor: target,
  'env:list': target,
  'env:set': target,
  init: [],
  status: target,
  'preview:up': [...project, '--project-directory'],
  'project:list': project.filter((flag) => flag !== '--project'),
  'target:apply': project,
  'target:create': project,
  'target:delete': project,
  'target:diff': project,
  'target:list': project,
};

/**
 * A suggested command as the words to type: it names each setting that a fresh shell would resolve otherwise, so that
 * it acts on the same project, target, service and folder as the run.
 * @param shortens whether flags are left out that a fresh shell resolves to the same
 */
export function completeCommand(
  {run: [first = '', ...args], again = false, project: other}: CommandToRun,
  {folder, config, typed: flags, settings}: RunSurroundings,
  shortens = false,
): readonly string[] {
  const id = String(first);
  const words = args.map(String);
  // Another project has settings and folders of its own.
  const known = other === undefined ? flagsOfCommands[id] : folders;
  const resolved = other === undefined ? settings : [];
  if (words.includes('--help')) return [id, ...words];
  // As long as no settings are resolved, the flags are all that is known of them.
  const repeats = ({flag, commands}: TypedFlag) =>
    commands.includes(id) &&
    wordsOf(flag, words).length === 0 &&
    (known?.includes(flag) === true ? settings.length === 0 : again);
  words.push(...flags.filter(repeats).flatMap((one) => one.words));
  if (known === undefined) return [id, ...words];
  const skipped = otherFlags(words, settings);
  for (const {flag, run, fresh} of resolved.filter((one) => known.includes(one.flag) && !skipped.includes(one.flag))) {
    const given = wordsOf(flag, words);
    const typed = (values: readonly string[]) => values.flatMap((value) => flagValue(flag, value));
    if (given.length === 0 && !isDeepStrictEqual(run, fresh)) words.push(...typed(run));
    if (given.length + run.length === 0 && fresh.length > 0 && flag === '--target' && id === 'bundle:push')
      words.push('--no-target');
    // Without its target, status shows all.
    if (
      shortens &&
      given.length > 0 &&
      isDeepStrictEqual(given, typed(fresh)) &&
      !(id === 'status' && flag === '--target')
    )
      words.splice(words.indexOf(given[0] ?? ''), given.length);
  }
  const place = other === undefined ? folder : isAbsolute(other) ? other : join(folder, other);
  return [id, ...words, ...(place === '' ? [] : flagValue('-C', place)), ...(other === undefined ? config : [])];
}

function wordsOf(flag: string, words: readonly string[]): readonly string[] {
  const at = words.findIndex((word) => word === flag || word.startsWith(`${flag}=`));
  return at === -1 ? [] : words.slice(at, words[at] === flag ? at + 2 : at + 1);
}

/** The flags of backends that do not serve the command, and of folders that it has as an argument or in an archive. */
function otherFlags(words: readonly string[], settings: readonly RunSetting[]): readonly string[] {
  const backend = settings.find(({flag}) => flag === '--runtime-backend');
  const [, name = backend?.run[0] ?? 'auto'] = wordsOf('--runtime-backend', words);
  const others: Readonly<Record<string, readonly string[]>> = {
    auto: plugins,
    legacy: [...api, ...apiLogin, ...plugins],
    api: [...legacy, ...legacyLogin, ...plugins],
  };
  const [, kind] = wordsOf('--kind', words);
  const isLegacy = kind === undefined ? words.includes('--origin') : kind === 'api-key';
  const place = isLegacy ? 'legacy' : kind !== undefined || words.includes('--api-origin') ? 'api' : name;
  return [
    ...(others[place] ?? [...legacy, ...legacyLogin, ...api, ...apiLogin]),
    ...(words.includes('--archive') ? folders : []),
    ...(words[0]?.startsWith('-') === false ? ['--build-directory'] : []),
  ];
}

export function advises(command: string, advice: readonly Suggestion[]): boolean {
  return advice.flatMap(partsOf).some((part) => typeof part !== 'string' && part.run[0] === command);
}

/** The advice after an upload of which the service has a part. */
export const resumesUpload = 'The next push of the same build resumes the upload.';

/** The advice after a request that may have been carried out. */
export const checkBeforeRetrying: Suggestion = [
  'Check before retrying: run ',
  {run: ['bundle:list']},
  ' for bundles, or ',
  {run: ['bundle:history']},
  ' for deployments.',
];

/** The advice if nothing listens at an address of this machine. */
export const startService = 'Start the service there, or check the address.';

export const refusedCredentials: Suggestion = [
  'Check that the credentials are complete, still valid and for this server. Run ',
  {run: ['config:show']},
  ' to see their source: correct or unset a variable, or run ',
  {run: ['auth:login']},
  ' to store others.',
];
