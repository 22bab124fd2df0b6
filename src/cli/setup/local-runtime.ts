import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {constants} from 'node:os';
import process from 'node:process';
import {createError, reasonOf, type Suggestion, systemCode} from '../../errors/index.js';
import {endAtOnce, findProgram, startOf} from '../../files/programs.js';
import {onWindows, type Environment} from '../../text/platform.js';
import {variableCommands} from '../../text/suggest.js';
import {looksSecret} from '../../http/redact.js';
import type {LocalRuntime} from '../../local-runtime/runtime-options.js';
import {secretKeys, variableOf, type SettingKey} from '../../settings/definitions.js';
import {unbroken} from '../output/terminal.js';
import {isPluginBackend, trustedOriginsVariable} from '../settings/connection-options.js';

type Runtime = Pick<LocalRuntime, 'origin' | 'credentials'>;

type Variables = Readonly<Record<string, (runtime: Runtime) => string>>;

const legacyVariables: Variables = {
  MYCLI_RUNTIME_ORIGIN: ({origin}) => origin,
  MYCLI_API_KEY: ({credentials}) => credentials.apiKey,
};
const apiVariables: Variables = {
  MYCLI_API_ORIGIN: ({origin}) => origin,
  MYCLI_ORGANIZATION: ({credentials}) => credentials.organizationId,
  MYCLI_TOKEN_URL: ({credentials}) => credentials.tokenUrl,
  MYCLI_CLIENT_ID: ({credentials}) => credentials.clientId,
  MYCLI_CLIENT_SECRET: ({credentials}) => credentials.clientSecret,
};
const allVariables: Variables = {...legacyVariables, ...apiVariables};

export const unsetVariables = Object.fromEntries(Object.keys(allVariables).map((name) => [name, undefined]));

export function runtimeVariables(runtime: Runtime): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(allVariables).map(([name, of]) => [name, of(runtime)]));
}

/** The environment of a command that runs against a local runtime: nothing that leads elsewhere, no secrets. */
export function commandEnvironment(env: Environment, runtime: Runtime, configured = 'auto'): Environment {
  const foreign: SettingKey[] = [...secretKeys, 'apiUser', 'scopes', 'backendOptions'];
  const removed = [...foreign.map(variableOf), trustedOriginsVariable];
  const backend = String(variableOf('runtimeBackend'));
  const chosen = isPluginBackend(env[backend] ?? configured) ? {[backend]: 'auto'} : {};
  // Names are in any case on Windows.
  const isRemoved = (name: string) => removed.includes(onWindows ? name.toUpperCase() : name);
  const inherited = Object.entries(env).filter((entry) => !isRemoved(entry[0]) && !looksSecret(entry));
  return {...Object.fromEntries(inherited), ...chosen, ...runtimeVariables(runtime)};
}

const harmless = ['PATH', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR', 'TEMP', 'TMP', 'SystemRoot'];

/** The environment of the servers of apps: no credentials of the user, and `NAME=VALUE` as given. */
export function appEnvironment(env: Environment, pairs: readonly string[]): Readonly<Record<string, string>> {
  const inherited = harmless.flatMap((name): [string, string][] => {
    const value = env[name];
    return value === undefined ? [] : [[name, value]];
  });
  const own = pairs.map((text): [string, string] => {
    const [, name = '', value = ''] = /^(\w+)=([^]*)$/.exec(text) ?? [];
    if (name !== '') return [name, value];
    throw createError('ERR_USAGE', `--ssr-env ${text.split('=', 1)[0] ?? ''} does not have the form NAME=VALUE.`, {
      suggestions: ['For example, pass --ssr-env API_URL=http://127.0.0.1:8080'],
    });
  });
  return Object.fromEntries([...inherited, ...own]);
}

/** Instructions for newcomers: the variables of one backend, what to type next, and how to stop. */
export function nextSteps(
  runtime: Runtime & Pick<LocalRuntime, 'appsOrigin' | 'siteUrl'>,
  backend: 'legacy' | 'api',
): readonly Suggestion[] {
  const variables = Object.entries(backend === 'legacy' ? legacyVariables : apiVariables);
  return [
    `Open ${runtime.origin}/ in a browser to see what you push.`,
    '',
    'In another terminal, point mycli at it:',
    '',
    ...variableCommands(variables.map(([name, of]) => [name, of(runtime)])).map(unbroken),
    '',
    ['Then set up a project (', {run: ['init']}, ' writes its configuration), or push a build/ folder right away:'],
    '',
    [{run: ['init']}],
    [{run: ['bundle:push', '--project', 'my-shop', '--target', 'staging', '--wait']}],
    '',
    `The target is then served at ${runtime.siteUrl('my-shop', 'staging')}, which browsers and curl -L open on this machine.`,
    `Other programs may need ${runtime.appsOrigin}/my-shop/staging/ instead. Press Ctrl-C to stop the runtime.`,
  ];
}

/** How long an interrupted command may take to exit, in milliseconds. Less than mycli itself has for its cleanup. */
const patienceMs = 500;

/** Runs a command in this terminal. Resolves to its exit code, or to 128 plus the number of a signal. */
export async function runCommand(
  [program = '', ...args]: readonly string[],
  {cwd, env, signal}: {readonly cwd: string; readonly env: NodeJS.ProcessEnv; readonly signal: AbortSignal},
): Promise<number> {
  const found = findProgram(program, env, cwd);
  if (found === undefined) throw notStarted(program, 'it was not found');
  const {file, args: all, windowsVerbatimArguments} = startOf(found, args, env);
  const child = spawn(file, all, {cwd, env, stdio: 'inherit', windowsVerbatimArguments});
  const kill = (): void => endAtOnce(child, env);
  const stop = (): void => {
    // Windows has no signal to ask with. Ctrl-C reaches all that has the terminal.
    if (!onWindows) child.kill('SIGTERM');
    setTimeout(kill, patienceMs).unref();
  };
  // Applies however this process exits, even if it does not wait for the command.
  process.once('exit', kill);
  signal.addEventListener('abort', stop, {once: true});
  try {
    const [code, name] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
    signal.throwIfAborted();
    return code ?? 128 + constants.signals[name ?? 'SIGTERM'];
  } catch (error) {
    signal.throwIfAborted();
    const isDenied = systemCode(error) === 'EACCES';
    throw notStarted(program, isDenied ? 'it is not executable' : reasonOf(error), error);
  } finally {
    process.off('exit', kill);
    signal.removeEventListener('abort', stop);
  }
}

function notStarted(program: string, reason: string, cause?: unknown): Error {
  const suggestions = ['Check the command after --.'];
  return createError('ERR_PROGRAM_MISSING', `${program} cannot be started: ${reason}.`, {suggestions, cause});
}
