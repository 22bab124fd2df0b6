import {readFile} from 'node:fs/promises';
import {resolve} from 'node:path';
import process from 'node:process';
import type {Interfaces} from '@oclif/core';
import {backendTitle} from '../../backends/select.js';
import type {BackendRegistry} from '../../backends/registry.js';
import {createError, isRuntimeCliError} from '../../errors/index.js';
import {asSentence} from '../../errors/sentence.js';
import {commandLine} from '../../errors/suggest.js';
import {reasonOf} from '../../errors/system-failure.js';
import {proxyFor} from '../../http/connection/proxy.js';
import type {Environment} from '../../http/types.js';
import {describeSafety, safetyOf} from '../../operations/guard/safety.js';
import type {CommandContext} from '../command/command-context.js';
import {findPluginProblems} from '../command/plugins.js';
import type {Output} from '../output/output.js';
import {incompleteApi} from '../settings/connection.js';
import {loadAllBackends} from '../settings/reach-backends.js';
import type {Settings} from '../settings/settings.js';
import {checkServices, type ServiceCredentials} from './check-credentials.js';

/** The outcome of a check. */
export interface CheckResult {
  /** What was checked: `node`, `configuration`, `safety`, `credentials`, `proxy`, `certificates` or `plugins`. */
  readonly name: string;
  /** `skipped`: something that the check needs is missing. */
  readonly status: 'ok' | 'warning' | 'failed' | 'skipped';
  /** One sentence about the outcome. */
  readonly message: string;
  /** What to do about it. */
  readonly suggestions: readonly string[];
}

/** Runs every check, even after failures. */
export async function runChecks(context: CommandContext): Promise<readonly CheckResult[]> {
  const {env, cwd} = context;
  const {settings, result} = await checkConfiguration(context);
  const registry = settings && (await loadAllBackends(context, settings));
  const skipped = (name: string) => [outcome('skipped', name, 'Not checked: the configuration cannot be used.')];
  return [
    // bin/run.js refuses older ones.
    outcome('ok', 'node', `Node.js ${process.versions.node}.`),
    result,
    ...safetyOf(context).map((mode) => outcome('ok', 'safety', describeSafety(mode))),
    ...(settings && registry ? await checkCredentials(context, settings, registry) : skipped('credentials')),
    checkProxies(env, settings),
    await checkCertificates(env, cwd),
    ...(registry ? checkPlugins(registry) : skipped('plugins')),
    ...(await checkPackages(context.config)),
  ];
}

function outcome(
  status: CheckResult['status'],
  name: string,
  message: string,
  suggestions: readonly string[] = [],
): CheckResult {
  return {name, status, message, suggestions};
}

/** A failed check. */
function failure(name: string, error: unknown): CheckResult {
  if (!isRuntimeCliError(error)) throw error;
  return outcome('failed', name, error.message, error.suggestions);
}

async function checkConfiguration(
  context: CommandContext,
): Promise<{readonly settings?: Settings | undefined; readonly result: CheckResult}> {
  try {
    const {configFile} = await context.explainSettings();
    const settings = await context.loadSettings();
    const message = configFile === undefined ? 'No configuration file.' : `${configFile} is valid.`;
    return {settings, result: outcome('ok', 'configuration', message)};
  } catch (error) {
    return {result: failure('configuration', error)};
  }
}

/** Asks each service that a push from here could use whether it accepts the credentials. */
async function checkCredentials(
  context: CommandContext,
  settings: Settings,
  registry: BackendRegistry,
): Promise<readonly CheckResult[]> {
  try {
    const incomplete = incompleteApi(settings, context.env);
    if (incomplete !== undefined) throw incomplete;
    const services = await checkServices(context, settings, registry, true);
    const asked = services.filter(({check}) => check !== undefined);
    if (asked.length > 0) return asked.map(describeService);
  } catch (error) {
    return [failure('credentials', error)];
  }
  const isNew = settings.origin === undefined;
  const login = isNew ? 'mycli login --origin URL, or mycli init to set up a project' : 'mycli login';
  return [outcome('failed', 'credentials', 'A push from here has no credentials.', [`Run ${login}.`])];
}

function describeService({backend, origin, check, failed}: ServiceCredentials): CheckResult {
  const {status, user, clientId, reason = '', suggestions} = check ?? {};
  const service = origin === undefined ? backend : `${backendTitle(backend)} at ${origin}`;
  const owner = user ?? clientId;
  if (status === 'accepted') {
    const whose = owner === undefined ? '' : ` of ${owner}`;
    return outcome('ok', 'credentials', `${service} accepts the credentials${whose}.`);
  }
  const message = `${service}: ${reason}`;
  if (failed) return outcome('failed', 'credentials', message, suggestions);
  // A token that cannot be checked for lack of a project is not an error, nor a backend that can't verify.
  if (origin === undefined) return outcome('skipped', 'credentials', `Not checked: ${reason}`);
  return outcome('warning', 'credentials', message, suggestions);
}

/** The proxies of the configured addresses. Without one, the variables are checked all the same. */
function checkProxies(env: Environment, {origin, apiOrigin, tokenUrl}: Partial<Settings> = {}): CheckResult {
  const addresses = [origin, apiOrigin, tokenUrl].flatMap((setting) => setting?.value ?? []);
  const urls = addresses.map((address) => (address.includes('://') ? address : `https://${address}`));
  const usable = urls.filter((url) => URL.canParse(url));
  try {
    const asked = usable.length > 0 ? usable : ['https://service.invalid', 'http://service.invalid'];
    const used = new Set(asked.flatMap((url) => proxyFor(new URL(url), env)?.origin ?? []));
    const message = used.size === 0 ? 'No proxy is used.' : `Requests go through ${[...used].join(', ')}.`;
    return outcome('ok', 'proxy', message);
  } catch (error) {
    return failure('proxy', error);
  }
}

/** Node.js itself only warns about a file that it cannot read. */
async function checkCertificates(env: Environment, cwd: string): Promise<CheckResult> {
  const name = 'certificates';
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') {
    return outcome(
      'warning',
      name,
      'NODE_TLS_REJECT_UNAUTHORIZED=0 turns off the check of certificates: anyone on the network path can read secrets.',
      ['Unset it. For a CA of your own, set NODE_EXTRA_CA_CERTS.'],
    );
  }
  const file = env['NODE_EXTRA_CA_CERTS'] ?? '';
  if (file === '') return outcome('ok', name, "Only Node.js's own certificate authorities are trusted.");
  let problem = 'contains no certificate';
  try {
    const content = await readFile(resolve(cwd, file), 'utf8');
    if (content.includes('-----BEGIN CERTIFICATE-----')) {
      return outcome('ok', name, `The certificate authorities in ${file} are trusted too.`);
    }
  } catch (error) {
    problem = `cannot be read: ${reasonOf(error)}`;
  }
  return outcome('failed', name, asSentence(`${file} (NODE_EXTRA_CA_CERTS) ${problem}`), [
    'Set NODE_EXTRA_CA_CERTS to a file of certificates in PEM format, or unset it.',
  ]);
}

function checkPlugins({registrations, failures}: BackendRegistry): readonly CheckResult[] {
  const broken = failures.map(({plugin, message}) =>
    outcome('failed', 'plugins', message, [
      `Update or remove it: ${commandLine('plugins:uninstall', plugin)}. Or set MYCLI_SKIP_PLUGINS=1.`,
    ]),
  );
  if (broken.length > 0) return broken;
  const plugins = [...new Set(registrations.filter(({version}) => version !== undefined).map(({plugin}) => plugin))];
  const message = plugins.length === 0 ? 'No plugin adds a backend.' : `Backends of ${plugins.join(', ')} work.`;
  return [outcome('ok', 'plugins', message)];
}

/** The packages of the plugins that users have installed or linked, or that a project depends on. */
async function checkPackages({plugins, version}: Interfaces.Config): Promise<readonly CheckResult[]> {
  const added = [...plugins.values()].filter(({type}) => type === 'user' || type === 'link');
  const problems = await Promise.all(added.map(({root}) => findPluginProblems(root, version)));
  return problems.flat().map(({message, suggestion}) => outcome('warning', 'plugins', message, [suggestion]));
}

type Marks = Readonly<Record<CheckResult['status'], string>>;
const unicodeMarks: Marks = {ok: '✔', warning: '⚠', failed: '✖', skipped: '-'};
const asciiMarks: Marks = {ok: 'ok  ', warning: 'warn', failed: 'FAIL', skipped: '-   '};

/** Prints a line for each check, followed by its suggestions. */
export function reportChecks(
  checks: readonly CheckResult[],
  output: Pick<Output, 'json' | 'unicode' | 'outcome'>,
): void {
  const marks = output.unicode ? unicodeMarks : asciiMarks;
  const width = Math.max(...checks.map(({name}) => name.length));
  for (const {name, status, message, suggestions} of checks) {
    const indent = ' '.repeat(marks[status].length + width + 3);
    output.outcome(`${marks[status]} ${name.padEnd(width)}  ${message}`, indent);
    for (const suggestion of suggestions) output.outcome(`${indent}${suggestion}`, indent);
  }
  const broken = checks.filter(({status}) => status === 'failed');
  if (broken.length === 0) return;
  throw createError('ERR_CHECK_FAILED', `${String(broken.length)} of ${String(checks.length)} checks failed.`, {
    // Users have read them below each check.
    suggestions: output.json ? broken.flatMap(({suggestions}) => suggestions) : [],
    details: {checks},
  });
}
