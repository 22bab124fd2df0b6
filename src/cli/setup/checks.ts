import {readFile} from 'node:fs/promises';
import {resolve} from 'node:path';
import process from 'node:process';
import type {Interfaces} from '@oclif/core';
import type {BackendRegistry} from '../../backends/registry.js';
import {isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import {asSentence} from '../../errors/sentence.js';
import {commandLine} from '../../errors/suggest.js';
import {reasonOf} from '../../errors/system-failure.js';
import {normalizeOrigin, parseServiceUrl, shownAddress} from '../../http/origin.js';
import {proxyFor} from '../../http/connection/proxy.js';
import type {Environment} from '../../http/types.js';
import {describeSafety, safetyOf} from '../../operations/guard/safety.js';
import {incompleteApi} from '../settings/api-completeness.js';
import {readPluginSettings} from '../settings/plugin-options.js';
import {loadAllBackends} from '../settings/reach-backends.js';
import type {CommandContext} from '../command/command-context.js';
import {isPluginBackend} from './backend-login.js';
import {checkCredentials, checkPlugin, type CheckedBackend} from './check-credentials.js';
import type {Settings} from '../settings/settings.js';

/** The outcome of a check. */
export interface CheckResult {
  /**
   * What was checked: `node`, `configuration`, `safety`, `credentials`, `proxy`, `certificates`, `clock` or `plugins`.
   */
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
  const services = settings && registry ? await checkServices({context, flags, settings, registry}) : [];
  return [
    // bin/run.js refuses older ones.
    ok('node', `Node.js ${process.versions.node}.`),
    result,
    ...safetyOf(context).map((mode) => ok('safety', describeSafety(mode))),
    ...(settings === undefined
      ? [skipped('credentials', 'The configuration cannot be used.')]
      : services.map(({check}) => check)),
    ...checkProxies(env, settings),
    await checkCertificates(env, cwd),
    checkClock(
      services.flatMap(({serverDate}) => serverDate ?? []),
      context.now(),
    ),
    ...(registry === undefined ? [skipped('plugins', 'The configuration cannot be used.')] : checkPlugins(registry)),
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

interface ServiceCheck {
  readonly check: CheckResult;
  readonly serverDate?: string | undefined;
}

interface ServicesInput extends Pick<DoctorInput, 'context' | 'flags'> {
  readonly settings: Settings;
  readonly registry: BackendRegistry;
}

/** Asks each backend that a push from here could use whether it accepts the credentials. */
async function checkServices(input: ServicesInput): Promise<readonly ServiceCheck[]> {
  const {context, settings} = input;
  if (isPluginBackend(settings.runtimeBackend.value)) return [{check: await checkPluginService(input)}];
  const {runtimeBackend, origin, apiKey, apiOrigin, apiToken, clientId, clientSecret, tokenUrl} = settings;
  const incomplete = incompleteApi({
    preference: runtimeBackend.value,
    isSet: (key) => settings[key] !== undefined,
    env: context.env,
  });
  if (incomplete !== undefined) return [{check: failed('credentials', incomplete)}];
  const hasClient = clientId !== undefined && clientSecret !== undefined && tokenUrl !== undefined;
  const services = [
    ...(origin !== undefined && apiKey !== undefined ? [{backend: 'legacy', address: origin.value} as const] : []),
    ...(apiOrigin !== undefined && (apiToken !== undefined || hasClient)
      ? [{backend: 'api', address: apiOrigin.value} as const]
      : []),
  ];
  if (services.length > 0) {
    return Promise.all(services.map(({backend, address}) => checkService(context, settings, backend, address)));
  }
  const message = 'A push from here has no credentials.';
  const login =
    origin === undefined ? 'mycli login --origin URL, or mycli init to set up a project' : 'mycli login';
  const suggestions = [`Run ${login}.`];
  return [{check: failed('credentials', {message, suggestions})}];
}

async function checkPluginService({context, flags, settings, registry}: ServicesInput): Promise<CheckResult> {
  try {
    const registration = registry.find(settings.runtimeBackend.value);
    const {name, backend} = registration;
    const whole = await readPluginSettings(registration, {context, settings, flags});
    const {check, failed: isBroken} = await checkPlugin(context, settings, {backend, ...whole});
    const {status, user, reason = '', suggestions = []} = check;
    if (status === 'accepted') {
      return ok('credentials', `${name} accepts the credentials${user === undefined ? '' : ` of ${user}`}.`);
    }
    return isBroken
      ? failed('credentials', {message: `${name}: ${reason}`, suggestions})
      : skipped('credentials', reason);
  } catch (error) {
    if (!isRuntimeCliError(error)) throw error;
    return failed('credentials', error);
  }
}

async function checkService(
  context: CommandContext,
  settings: Settings,
  backend: CheckedBackend,
  address: string,
): Promise<ServiceCheck> {
  const {check, failed: isBroken, serverDate} = await checkCredentials(context, settings, backend);
  const {status, user, clientId, reason = '', suggestions = []} = check;
  const service = `${backend} at ${shownAddress(address)}`;
  const owner = user ?? clientId;
  if (status === 'accepted') {
    const message = `${service} accepts the credentials${owner === undefined ? '' : ` of ${owner}`}.`;
    return {check: ok('credentials', message), serverDate};
  }
  // A token that cannot be checked for lack of a project is not an error.
  const outcome = isBroken ? 'failed' : 'warning';
  return {check: {name: 'credentials', status: outcome, message: `${service}: ${reason}`, suggestions}};
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

/** Seconds that clocks may differ before tokens and signed URLs suffer. */
const [noticeable, harmful] = [60, 300];

function checkClock(serverDates: readonly string[], now: Date): CheckResult {
  const [date] = serverDates;
  const time = Date.parse(date ?? '');
  if (Number.isNaN(time)) return skipped('clock', 'no service told the time.');
  const seconds = Math.round((now.getTime() - time) / 1000);
  const message = `The clock is ${String(Math.abs(seconds))} s ${seconds < 0 ? 'behind' : 'ahead of'} the server's.`;
  if (Math.abs(seconds) < noticeable) return ok('clock', "The clock agrees with the server's.");
  const suggestions = ['Set the clock, for example with: timedatectl set-ntp true'];
  return {name: 'clock', status: Math.abs(seconds) < harmful ? 'warning' : 'failed', message, suggestions};
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
