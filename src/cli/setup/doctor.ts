import {readFile} from 'node:fs/promises';
import {resolve} from 'node:path';
import process from 'node:process';
import type {Interfaces} from '@oclif/core';
import {backendTitle} from '../../backends/select.js';
import type {BackendRegistry} from '../../backends/registry.js';
import {createError, isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import {asSentence} from '../../errors/sentence.js';
import {commandLine} from '../../errors/suggest.js';
import {reasonOf} from '../../errors/system-failure.js';
import {proxyFor} from '../../http/connection/proxy.js';
import {normalizeOrigin, parseServiceUrl} from '../../http/origin.js';
import type {Environment} from '../../http/types.js';
import {describeSafety, safetyOf} from '../../operations/guard/safety.js';
import type {CommandContext} from '../command/command-context.js';
import {findPluginProblems} from '../command/linked-plugin.js';
import type {Output} from '../output/output.js';
import {incompleteApi, isPluginBackend} from '../settings/connection.js';
import {loadAllBackends} from '../settings/reach-backends.js';
import type {Settings} from '../settings/settings.js';
import {checkPluginService, checkServices, type ServiceCredentials} from './check-credentials.js';

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

/** What to check. */
interface DoctorInput {
  readonly context: CommandContext;
  readonly config: Interfaces.Config;
  readonly flags: {readonly 'backend-option'?: readonly string[] | undefined};
}

/** Runs every check, even after failures. */
export async function runChecks({context, config, flags}: DoctorInput): Promise<readonly CheckResult[]> {
  const {env, cwd} = context;
  const {settings, result} = await checkConfiguration(context);
  const registry = settings && (await loadAllBackends({context, config, flags, settings}));
  return [
    // bin/run.js refuses older ones.
    ok('node', `Node.js ${process.versions.node}.`),
    result,
    ...safetyOf(context).map((mode) => ok('safety', describeSafety(mode))),
    ...(settings && registry
      ? await checkCredentials({context, flags, settings}, registry)
      : [skipped('credentials', 'The configuration cannot be used.')]),
    ...checkProxies(env, settings),
    await checkCertificates(env, cwd),
    ...(registry === undefined ? [skipped('plugins', 'The configuration cannot be used.')] : checkPlugins(registry)),
    ...(await checkPackages(config)),
  ];
}

function ok(name: string, message: string): CheckResult {
  return {name, status: 'ok', message, suggestions: []};
}

function skipped(name: string, message: string): CheckResult {
  return {name, status: 'skipped', message: `Not checked: ${message}`, suggestions: []};
}

function failed(name: string, {message, suggestions}: Pick<RuntimeCliError, 'message' | 'suggestions'>): CheckResult {
  return {name, status: 'failed', message, suggestions};
}

async function checkConfiguration(
  context: CommandContext,
): Promise<{readonly settings?: Settings | undefined; readonly result: CheckResult}> {
  try {
    const {configFile} = await context.explainSettings();
    const settings = await context.loadSettings();
    const message = configFile === undefined ? 'No configuration file.' : `${configFile} is valid.`;
    return {settings, result: ok('configuration', message)};
  } catch (error) {
    if (!isRuntimeCliError(error)) throw error;
    return {result: failed('configuration', error)};
  }
}

/** Asks each service that a push from here could use whether it accepts the credentials. */
async function checkCredentials(
  reach: Pick<DoctorInput, 'context' | 'flags'> & {readonly settings: Settings},
  registry: BackendRegistry,
): Promise<readonly CheckResult[]> {
  const {context, settings} = reach;
  const {value: preference} = settings.runtimeBackend;
  try {
    if (isPluginBackend(preference)) {
      return [describeService(await checkPluginService(registry.find(preference), reach, true))];
    }
  } catch (error) {
    if (!isRuntimeCliError(error)) throw error;
    return [failed('credentials', error)];
  }
  const isSet = (key: keyof Settings) => settings[key] !== undefined;
  const incomplete = incompleteApi({preference, isSet, env: context.env});
  if (incomplete !== undefined) return [failed('credentials', incomplete)];
  const services = (await checkServices(context, settings, true)).filter(({checked}) => checked !== undefined);
  if (services.length > 0) return services.map(describeService);
  const message = 'A push from here has no credentials.';
  const isNew = settings.origin === undefined;
  const login = isNew ? 'mycli login --origin URL, or mycli init to set up a project' : 'mycli login';
  return [failed('credentials', {message, suggestions: [`Run ${login}.`]})];
}

function describeService({backend, origin, checked}: ServiceCredentials): CheckResult {
  const {status, user, clientId, reason = '', suggestions = []} = checked?.check ?? {};
  const service = origin === undefined ? backend : `${backendTitle(backend)} at ${origin}`;
  const owner = user ?? clientId;
  if (status === 'accepted') {
    return ok('credentials', `${service} accepts the credentials${owner === undefined ? '' : ` of ${owner}`}.`);
  }
  if (checked?.failed) return failed('credentials', {message: `${service}: ${reason}`, suggestions});
  // A token that cannot be checked for lack of a project is not an error, nor a backend that can't verify.
  if (origin === undefined) return skipped('credentials', reason);
  return {name: 'credentials', status: 'warning', message: `${service}: ${reason}`, suggestions};
}

/** The proxies of the configured addresses. */
function checkProxies(env: Environment, settings: Settings | undefined): readonly CheckResult[] {
  const {origin, apiOrigin, tokenUrl} = settings ?? {};
  const addresses = [origin, apiOrigin, tokenUrl].flatMap((setting) => urlOf(setting?.value) ?? []);
  // Check the variables even without an address.
  const urls =
    addresses.length > 0 ? addresses : [new URL('https://service.invalid'), new URL('http://service.invalid')];
  try {
    const proxies = urls.map((url) => proxyFor(url, env)?.origin);
    const used = [...new Set(proxies.filter((proxy) => proxy !== undefined))];
    return [ok('proxy', used.length === 0 ? 'No proxy is used.' : `Requests go through ${used.join(', ')}.`)];
  } catch (error) {
    if (!isRuntimeCliError(error)) throw error;
    return [failed('proxy', error)];
  }
}

function urlOf(address: string | undefined): URL | undefined {
  if (address === undefined) return undefined;
  try {
    const {origin} = parseServiceUrl('address', address);
    return new URL(normalizeOrigin('address', origin));
  } catch {
    // The check of the credentials reports it.
    return undefined;
  }
}

/** Node.js itself only warns about a file that it cannot read. */
async function checkCertificates(env: Environment, cwd: string): Promise<CheckResult> {
  const name = 'certificates';
  const file = env['NODE_EXTRA_CA_CERTS'] ?? '';
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') {
    const message =
      'NODE_TLS_REJECT_UNAUTHORIZED=0 turns off the check of certificates: anyone on the network path can read secrets.';
    return {
      name,
      status: 'warning',
      message,
      suggestions: ['Unset it. For a CA of your own, set NODE_EXTRA_CA_CERTS.'],
    };
  }
  if (file === '') return ok(name, "Only Node.js's own certificate authorities are trusted.");
  const suggestions = ['Set NODE_EXTRA_CA_CERTS to a file of certificates in PEM format, or unset it.'];
  try {
    const content = await readFile(resolve(cwd, file), 'utf8');
    if (content.includes('-----BEGIN CERTIFICATE-----')) {
      return ok(name, `The certificate authorities in ${file} are trusted too.`);
    }
    return failed(name, {message: `${file} (NODE_EXTRA_CA_CERTS) contains no certificate.`, suggestions});
  } catch (error) {
    const message = asSentence(`${file} (NODE_EXTRA_CA_CERTS) cannot be read: ${reasonOf(error)}`);
    return failed(name, {message, suggestions});
  }
}

function checkPlugins({registrations, failures}: BackendRegistry): readonly CheckResult[] {
  if (failures.length > 0) {
    return failures.map(({plugin, message}) =>
      failed('plugins', {
        message,
        suggestions: [`Update or remove it: ${commandLine('plugins:uninstall', plugin)}. Or set MYCLI_SKIP_PLUGINS=1.`],
      }),
    );
  }
  const plugins = [...new Set(registrations.filter(({version}) => version !== undefined).map(({plugin}) => plugin))];
  return [
    ok('plugins', plugins.length === 0 ? 'No plugin adds a backend.' : `Backends of ${plugins.join(', ')} work.`),
  ];
}

/** The packages of the plugins that users have installed or linked, or that a project depends on. */
async function checkPackages({plugins, version}: Interfaces.Config): Promise<readonly CheckResult[]> {
  const added = [...plugins.values()].filter(({type}) => type === 'user' || type === 'link');
  const problems = await Promise.all(added.map(({root}) => findPluginProblems(root, version)));
  return problems
    .flat()
    .map(({message, suggestion}) => ({name: 'plugins', status: 'warning', message, suggestions: [suggestion]}));
}

type Marks = Readonly<Record<CheckResult['status'], string>>;
const unicodeMarks: Marks = {ok: '✔', warning: '⚠', failed: '✖', skipped: '-'};
const asciiMarks: Marks = {ok: 'ok  ', warning: 'warn', failed: 'FAIL', skipped: '-   '};

/**
 * Prints a line for each check, followed by its suggestions.
 * @throws RuntimeCliError `ERR_CHECK_FAILED` when one has failed.
 */
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
