import {readFile} from 'node:fs/promises';
import {homedir} from 'node:os';
import {dirname, relative, resolve} from 'node:path';
import process from 'node:process';
import type {Interfaces} from '@oclif/core';
import type {BackendRegistry} from '../../backends/registry.js';
import {refuseUnfitSlugs} from '../../backends/resolve-backend.js';
import {createError, isRuntimeCliError, reasonOf, type Suggestion} from '../../errors/index.js';
import {asSentence} from '../../text/sentence.js';
import {isOutside} from '../../text/paths.js';
import {onWindows, type Environment} from '../../text/platform.js';
import {meantNames, placeFlags, shellLine} from '../../text/suggest.js';
import {proxyFor} from '../../http/connection/proxy.js';
import {describeSafety, safetyOf} from '../../operations/guard/safety.js';
import type * as Targets from '../../pipelines/targets.js';
import type {CommandContext} from '../command/command-context.js';
import {findPluginProblems} from '../command/plugins.js';
import type {DoctorCheck} from '../output/documents.js';
import type {Output} from '../output/output.js';
import {resolveConnection} from '../settings/connection-options.js';
import {originOf} from '../settings/load-settings.js';
import {loadAllBackends} from '../settings/load-backends.js';
import {reachBackends, unconfigured} from '../settings/reach-backends.js';
import type {Settings} from '../settings/settings.js';
import {frameworkOfBuild} from '../../projects/build-rows.js';
import {detectBuild} from '../../projects/detect-build.js';
import {unfitEntry, unfitError} from '../../projects/unfit-build.js';
import {backendOf} from './interview.js';
import {withPushFolder} from './push-folder.js';
import {describeMissing, wantedVariables} from './variable-values.js';
import {verifyBuildDirectory} from '../../bundle/files/build-output.js';
import {withOtherCredentials} from './take-over.js';
import {checkServices, describeCheck, serviceTitle, type ServiceCredentials} from './check-credentials.js';

type Finding = Omit<DoctorCheck, 'name'>;
/** What asks the service. */
type Calls = Pick<typeof Targets, 'findNewPlace' | 'listVariables'>;

export async function runChecks(context: CommandContext, calls: Calls): Promise<readonly DoctorCheck[]> {
  const {env, cwd, config} = context;
  const texts = (lines: readonly Suggestion[]) => context.output.texts(lines);
  let settings: Settings | undefined;
  let registry: BackendRegistry | undefined;
  const results: DoctorCheck[] = [];
  const ended = (check: string, as: DoctorCheck['status']) =>
    results.some(({name, status}) => name === check && status === as);
  const checks: readonly (readonly [name: string, check: () => readonly Finding[] | Promise<readonly Finding[]>])[] = [
    // bin/run.js refuses older ones.
    ['node', () => [finding('ok', `Node.js ${process.versions.node}.`)]],
    [
      'configuration',
      async () => {
        settings = await context.loadSettings({changes: true});
        registry = await loadAllBackends(context, settings);
        const file = context.configFile?.path;
        verifySlugs(settings, registry);
        const hasProject = settings.projectSlug !== undefined;
        if (file === undefined) {
          const write = texts([['Write one: ', {run: ['init']}]]);
          return hasProject
            ? [finding('skipped', 'No configuration file.', write)]
            : [finding('warning', 'No configuration file, and no project is set.', [...write, 'Or pass --project.'])];
        }
        const valid = !hasProject
          ? finding('warning', `${file} is valid, but no project is set.`, ['Add projectSlug, or pass --project.'])
          : finding('ok', `${file} is valid.`);
        return [valid, ...checkFolder(file)];
      },
    ],
    ['build', async () => (settings ? checkBuild(context, settings) : [])],
    ['safety', () => safetyOf(context.session).map((mode) => finding('ok', describeSafety(mode)))],
    [
      'credentials',
      () =>
        settings && registry && !ended('safety', 'failed') ? checkCredentials(context, settings, registry) : notChecked,
    ],
    ['target', () => (settings && ended('credentials', 'ok') ? checkPlace(context, settings, calls) : [])],
    ['variables', () => (settings && ended('credentials', 'ok') ? checkVariables(context, settings, calls) : [])],
    ['proxy', () => [checkProxies(env, settings)]],
    ['certificates', async () => [await checkCertificates(env, cwd)]],
    [
      'plugins',
      async () => [
        ...(registry ? checkPlugins(registry, config, context.output.program) : notChecked),
        ...(await checkPackages(config)),
      ],
    ],
  ];
  for (const [name, check] of checks) {
    try {
      results.push(...(await check()).map((result) => ({name, ...result})));
    } catch (error) {
      if (!isRuntimeCliError(error)) throw error;
      const {message, advice} = await withOtherCredentials(error, context);
      results.push({name, ...finding('failed', message, texts(advice))});
    }
  }
  return results;
}

function finding(status: DoctorCheck['status'], message: string, suggestions: readonly string[] = []): Finding {
  return {status, message, suggestions};
}

/** On Windows, whether a configuration is outside the profile, where the system protects it. */
function checkFolder(file: string): readonly Finding[] {
  if (!onWindows || !isOutside(relative(homedir(), file))) return [];
  const folder = dirname(file);
  const message = `On Windows, mycli can't check file owners: anyone who can write to ${folder} controls what it runs.`;
  const advice = `Check who can, or move the project into your profile: ${shellLine('icacls', folder)}`;
  return [finding('warning', message, [advice])];
}

/** @throws RuntimeCliError for slugs that a push's backend does not take. With `auto`, Runtime (API key) takes over. */
function verifySlugs(settings: Settings, {registrations}: BackendRegistry): void {
  const {projectSlug, targetSlug, runtimeBackend, origin, apiKey} = settings;
  if (runtimeBackend.value === 'auto' && origin !== undefined && apiKey !== undefined) return;
  const service = registrations.find(({name}) => name === backendOf(settings))?.backend;
  if (service) refuseUnfitSlugs(service, {projectSlug: projectSlug?.value, targetSlug: targetSlug?.value});
}

const notChecked = [finding('skipped', 'Not checked until what failed above is corrected.')];

async function checkBuild({cwd, output, session}: CommandContext, settings: Settings): Promise<readonly Finding[]> {
  const project = settings.projectDirectory.value;
  const isSet = settings.buildDirectory.source.kind !== 'default';
  if (!isSet && (await detectBuild(project)) === undefined)
    return [finding('skipped', `No build in ${project}.`, ['Build the application, or run this in its folder.'])];
  try {
    const {buildDirectory} = await withPushFolder(settings, undefined, {cwd, output: {info: () => undefined}});
    const build = buildDirectory.value;
    await verifyBuildDirectory(build, {cwd, shell: session.cwd, project, command: []});
    const framework = await frameworkOfBuild(project, build);
    const unfit = framework && (await unfitEntry(framework, build));
    if (unfit) throw unfitError(unfit, {cwd, project});
    return [finding('ok', `${build} is a build${framework === undefined ? '' : ` of ${framework.name}`}.`)];
  } catch (error) {
    if (!isRuntimeCliError(error)) throw error;
    return [finding('warning', error.message, output.texts(error.advice))];
  }
}

async function checkCredentials(
  context: CommandContext,
  settings: Settings,
  registry: BackendRegistry,
): Promise<readonly Finding[]> {
  const problem = await unconfigured(context, settings, resolveConnection(context, settings));
  if (problem !== undefined) throw problem;
  const services = await checkServices(context, settings, registry, true);
  return services.filter(({check}) => check !== undefined).map(describeService);
}

function describeService(service: ServiceCredentials): Finding {
  const {check, failed} = service;
  const {status, reason = '', suggestions} = check ?? {};
  const place = serviceTitle(service);
  if (check && status === 'accepted') return finding('ok', `${place}: ${describeCheck(check)}.`);
  // A token that cannot be checked for lack of a project is not an error, nor a backend that can't verify.
  return finding(failed ? 'failed' : 'skipped', `${place}: ${reason}`, suggestions);
}

/** Says of a project or a target that the service does not have that it is new, as a push does. */
async function checkPlace(
  context: CommandContext,
  settings: Settings,
  {findNewPlace}: Calls,
): Promise<readonly Finding[]> {
  if (settings.projectSlug === undefined) return [];
  const {options, host} = await reachBackends({context, settings, needs: ['projectSlug']});
  const place = {...options, targetSlug: settings.targetSlug?.value, create: settings.create?.value};
  const found = await findNewPlace(place, {...host, terminal: undefined});
  if (found === undefined) return [];
  const {kind, slug, meant} = found;
  const isNew = `The ${kind} ${slug} is new`;
  if (meant.length === 0) return [finding('ok', `${isNew}: the first push may create it.`)];
  return [finding('warning', `${isNew}. Did you mean ${meantNames(meant)}?`, ['Otherwise, a push may create it.'])];
}

async function checkVariables(
  context: CommandContext,
  settings: Settings,
  {listVariables}: Calls,
): Promise<readonly Finding[]> {
  const wanted = await wantedVariables(settings);
  if (wanted.length === 0 || settings.projectSlug === undefined || settings.targetSlug === undefined) return [];
  try {
    const {options, host} = await reachBackends({context, settings, needs: ['projectSlug', 'targetSlug']});
    const {variables, ...place} = await listVariables(options, {...host, terminal: undefined});
    const missing = wanted.filter((name) => !variables.some((variable) => variable.name === name));
    const target = `Target ${place.targetSlug}`;
    if (missing.length === 0) return [finding('ok', `${target} has all expected variables.`)];
    const set = {run: ['env:set', ...missing.map((name) => `${name}=@FILE`), ...placeFlags(place)]};
    return [finding('warning', describeMissing(missing, target), context.output.texts([['Set them: ', set]]))];
  } catch (error) {
    if (!isRuntimeCliError(error)) throw error;
    const suggestions = context.output.texts(error.advice);
    return [finding('skipped', `The variables cannot be listed: ${error.message}`, suggestions)];
  }
}

/** The proxies of the configured addresses. Without one, the variables are checked all the same. */
function checkProxies(env: Environment, {origin, apiOrigin, tokenUrl}: Partial<Settings> = {}): Finding {
  const origins = [origin, apiOrigin, tokenUrl].flatMap((setting) => originOf(setting) ?? []);
  const urls = origins.length > 0 ? origins : ['https://service.invalid', 'http://service.invalid'];
  const used = new Set(urls.flatMap((url) => proxyFor(new URL(url), env)?.url.origin ?? []));
  return finding('ok', used.size === 0 ? 'No proxy is used.' : `Requests go through ${[...used].join(', ')}.`);
}

/** Node.js itself only warns about a file that it cannot read. */
async function checkCertificates(env: Environment, cwd: string): Promise<Finding> {
  if (env['NODE_TLS_REJECT_UNAUTHORIZED'] === '0') {
    const message =
      'NODE_TLS_REJECT_UNAUTHORIZED=0 turns off the check of certificates: anyone on the network path can read secrets.';
    return finding('warning', message, ['Unset it. For a CA of your own, set NODE_EXTRA_CA_CERTS.']);
  }
  const file = env['NODE_EXTRA_CA_CERTS'] ?? '';
  if (file === '') return finding('ok', "Only Node.js's own certificate authorities are trusted.");
  const problem = await readFile(resolve(cwd, file), 'utf8').then(
    (text) => (text.includes('-----BEGIN CERTIFICATE-----') ? undefined : 'contains no certificate'),
    (error: unknown) => `cannot be read: ${reasonOf(error)}`,
  );
  if (problem === undefined) return finding('ok', `The certificate authorities in ${file} are trusted too.`);
  return finding('failed', asSentence(`${file} (NODE_EXTRA_CA_CERTS) ${problem}`), [
    'Set NODE_EXTRA_CA_CERTS to a file of certificates in PEM format, or unset it.',
  ]);
}

function checkPlugins(
  {registrations, failures}: BackendRegistry,
  config: Interfaces.Config,
  program: readonly string[],
): readonly Finding[] {
  const broken = failures.map(({plugin, message, suggestion}) => {
    const remove = `Update ${plugin}, or remove it: ${shellLine(...program, 'plugins:uninstall', plugin)}`;
    const advice = suggestion === undefined ? [remove, 'Or set MYCLI_SKIP_PLUGINS=1.'] : [suggestion];
    return finding('failed', message, advice);
  });
  if (broken.length > 0) return broken;
  const plugins = [...new Set(registrations.filter(({version}) => version !== undefined).map(({plugin}) => plugin))];
  const others = addedPlugins(config).flatMap(({name}) => (plugins.includes(name) ? [] : [name]));
  return [
    finding('ok', plugins.length === 0 ? 'No plugin adds a backend.' : `Backends of ${plugins.join(', ')} work.`),
    ...(others.length === 0 ? [] : [finding('ok', `These plugins only add hooks or commands: ${others.join(', ')}.`)]),
  ];
}

/** The plugins that users have installed or linked, or that a project depends on. */
function addedPlugins({plugins}: Interfaces.Config) {
  return [...plugins.values()].filter(({type}) => type === 'user' || type === 'link');
}

async function checkPackages(config: Interfaces.Config): Promise<readonly Finding[]> {
  const problems = await Promise.all(addedPlugins(config).map(({root}) => findPluginProblems(root, config.version)));
  return problems.flat().map(({message, suggestion}) => finding('warning', message, [suggestion]));
}

export function reportChecks(
  checks: readonly DoctorCheck[],
  output: Pick<Output, 'json' | 'unicode' | 'outcome'>,
): void {
  const marks = output.unicode
    ? {ok: '✔', warning: '⚠', failed: '✖', skipped: '-'}
    : {ok: 'ok  ', warning: 'warn', failed: 'FAIL', skipped: '-   '};
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
