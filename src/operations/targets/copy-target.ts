import {isDeepStrictEqual} from 'node:util';
import type {CopiedTarget, CreatedTarget, CreateTargetOptions, TargetConfiguration} from './options.js';
import type {TargetSettings} from '../../backends/contract.js';
import {amendError, isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import {checkBeforeRetrying} from '../../errors/suggestion.js';
import {targetSettings} from '../../settings/target-settings.js';
import {listPaths} from '../../text/entry-names.js';
import {count} from '../../text/sentence.js';
import {invoke, quickLook} from '../call-backend.js';
import {liveDeployment, readHistory} from '../list-bundles.js';
import type {OpenBackend} from '../open-backend.js';
import {
  accessOf,
  compareTarget,
  currentConfiguration,
  ownSettings,
  readState,
  redirectsOf,
  variablesOf,
} from './compare-target.js';

function belongsToOne(name: string): boolean {
  return targetSettings[name]?.ofOne === true;
}

/** The settings that complete a copy: those it lacks, and the defaults of those that belong to its source only. */
export async function settingsToComplete(open: OpenBackend, from: string, to: string): Promise<TargetSettings> {
  const {readTarget, updateTarget} = open.backend;
  if (readTarget === undefined || updateTarget === undefined) return {};
  try {
    const {settings} = await invoke(open, 'readTarget', {targetSlug: from});
    const copy = await readState(open, to, {settings: {}});
    const different = new Set(compareTarget(copy, {settings}).map(({name}) => name));
    const wanted = Object.entries(settings).flatMap(([name, value]): (readonly [string, unknown])[] => {
      if (belongsToOne(name)) return different.has(name) ? [] : [[name, targetSettings[name]?.default]];
      return different.has(name) ? [[name, value]] : [];
    });
    return Object.fromEntries(wanted);
  } catch (error) {
    if (!isRuntimeCliError(error) || open.signal.aborted) throw error;
    open.host.outlet.warn(
      `The settings of ${from} cannot be read. Its copy may lack some, such as proxies, and have its host name. ` +
        error.message,
    );
    return {};
  }
}

/** Whether a copy still has the host name of its source. */
export async function keepsHost(open: OpenBackend, from: string, to: string): Promise<boolean> {
  const read = (targetSlug: string) => quickLook(open, (once) => invoke(once, 'readTarget', {targetSlug}));
  const [source, copy] = await Promise.all([from, to].map(read));
  const host = copy?.settings['externalHost'] ?? null;
  return host !== null && host === source?.settings['externalHost'];
}

/**
 * Warns that a copy of a target with an access header has none: built-in backends do not copy it. Whether a plugin's
 * backend does can be seen once there is a copy. `advice`: how to require one.
 */
export async function warnOfOpenCopy(
  open: OpenBackend,
  from: string,
  to: string,
  {dryRun, advice}: {readonly dryRun: boolean; readonly advice: string},
): Promise<void> {
  const {listAccess, plugin} = open.backend;
  if (listAccess === undefined || (plugin !== undefined && dryRun)) return;
  const {outlet} = open.host;
  try {
    if ((await accessOf(open, from)).length === 0) return;
    if (plugin !== undefined && (await accessOf(open, to)).length > 0) return;
    outlet.warn(`Not copied from ${from}: its access header, so anyone can visit ${to}. To require one, ${advice}`);
  } catch (error) {
    if (!isRuntimeCliError(error) || open.signal.aborted) throw error;
    outlet.warn(`The access headers of ${from} cannot be read. Anyone may be able to visit ${to}. ${error.message}`);
  }
}

/** What a target has that a copy can get. What cannot be read, within 10 s, is left out. */
async function traitsOf(open: OpenBackend, targetSlug: string) {
  const {readTarget, listVariables, listRedirects, listDeployments} = open.backend;
  const read = <Result>(look: (again: OpenBackend) => Promise<Result>) =>
    quickLook(open, look, {once: false, longestMs: 10_000});
  const [details, variables, redirects, history] = await Promise.all([
    readTarget && read((again) => invoke(again, 'readTarget', {targetSlug})),
    listVariables && read((again) => variablesOf(again, targetSlug)),
    listRedirects && read((again) => redirectsOf(again, targetSlug)),
    listDeployments && read((again) => readHistory(again, targetSlug)),
  ]);
  open.signal.throwIfAborted();
  return {
    settings: details && ownSettings(details.settings),
    variables: variables?.map(({name}) => name),
    redirects: redirects?.map((redirect) => redirect.from),
    bundleId: history && liveDeployment(history)?.bundleId,
  };
}

/** What a copy has of its source, and which variables and redirects it lacks. Warns of what belongs to one target. */
async function compareCopy(open: OpenBackend, from: string, to: string | undefined) {
  const source = await traitsOf(open, from);
  const copy = to === undefined ? {...source, settings: undefined} : await traitsOf(open, to);
  const {settings = {}, variables = [], redirects = [], bundleId} = source;
  const isCopied = ([name, value]: readonly [string, unknown]) =>
    copy.settings === undefined ? !belongsToOne(name) : isDeepStrictEqual(value, Reflect.get(copy.settings, name));
  const {variables: copiedVariables = variables, redirects: copiedRedirects = redirects} = copy;
  const lacking = variables.filter((name) => !copiedVariables.includes(name));
  const missingRedirects = redirects.filter((path) => !copiedRedirects.includes(path));
  const {listVariables, listRedirects} = open.backend;
  const unread = [
    ...(listVariables && !(source.variables && copy.variables) ? ['variables'] : []),
    ...(listRedirects && !(source.redirects && copy.redirects) ? ['redirects'] : []),
  ];
  if (to !== undefined && unread.length > 0)
    open.host.outlet.warn(`Could not check whether ${to} has the ${unread.join(' and ')} of ${from}.`);
  const copied: CopiedTarget = {
    from,
    bundleId: copy.bundleId === bundleId ? bundleId : undefined,
    variables: unread.includes('variables') ? [] : variables.filter((name) => !lacking.includes(name)),
    redirects: unread.includes('redirects') ? [] : redirects.filter((path) => !missingRedirects.includes(path)),
    settings: Object.fromEntries(Object.entries(settings).filter(isCopied)),
  };
  const kept = Object.keys(settings).filter(
    (name) => name !== 'name' && belongsToOne(name) && !(name in copied.settings),
  );
  if (kept.length > 0 && (to !== undefined || open.backend.updateTarget !== undefined))
    open.host.outlet.warn(`Not copied from ${from}, because they belong to one target: ${kept.join(', ')}.`);
  return {copied, lacking, missingRedirects};
}

/** `bundle 3; variables API_KEY, LEVEL; 1 redirect; settings logLevel; access header` */
function describeTraits(traits: Partial<CopiedTarget> & Pick<TargetConfiguration, 'access'>): string {
  const {bundleId, variables = [], redirects = [], settings = {}, access} = traits;
  const names = Object.keys(settings);
  const parts = [
    ...(bundleId === undefined ? [] : [`bundle ${String(bundleId)}`]),
    ...(variables.length === 0 ? [] : [`variables ${variables.join(', ')}`]),
    ...(redirects.length === 0 ? [] : [count(redirects.length, 'redirect')]),
    ...(names.length === 0 ? [] : [`settings ${names.join(', ')}`]),
    ...(access === true ? ['access header'] : []),
  ];
  return parts.join('; ') || 'nothing';
}

/**
 * Refuses a copy whose creation failed, unless it is known to be whole: a service may list it before. What the host
 * adds afterwards, and access headers of built-in backends, which never copy them, may be missing.
 */
export async function refusePartialCopy(failure: RuntimeCliError, open: OpenBackend, options: CreateTargetOptions) {
  const {targetSlug, copyFrom = '', configuration = {}} = options;
  const {updateTarget, plugin} = open.backend;
  const compare = async () => {
    const {primary: _, settings, access, ...listed} = await currentConfiguration(open, copyFrom);
    const copied = Object.entries(settings ?? {}).filter(([name]) => !belongsToOne(name));
    const wanted = {
      ...listed,
      settings: updateTarget === undefined && settings ? Object.fromEntries(copied) : undefined,
      access: plugin === undefined || configuration.access === true ? undefined : access,
    };
    return compareTarget(await readState(open, targetSlug, wanted), wanted);
  };
  const differences = await compare().catch(() => undefined);
  open.signal.throwIfAborted();
  if (differences?.length === 0) return;
  const lacks = differences?.map(({kind, name}) => (kind === name ? kind : `${kind} ${name}`));
  const what = lacks === undefined ? 'may lack what' : `lacks ${listPaths(lacks)}, which`;
  throw amendError(failure, {
    message: `Target ${targetSlug} exists, but ${what} ${copyFrom} has. ${failure.message}`,
    advice: failure.advice.filter((each) => each !== checkBeforeRetrying),
    suggestions: [['To copy it again, delete it first: ', {run: ['target:delete', targetSlug, ...open.flags()]}]],
    details: {targetSlug, lacks},
  });
}

/**
 * Says what a new target has of its source and of its configuration.
 * @param made the target, with the variables that are known of it. @default none yet: what it would have
 */
export async function reportMade(
  open: OpenBackend,
  {targetSlug, copyFrom, configuration = {}}: CreateTargetOptions,
  made?: {readonly targetSlug: string; readonly variables: readonly string[]},
): Promise<Pick<CreatedTarget, 'copied' | 'missing' | 'missingRedirects'>> {
  const {outlet} = open.host;
  const {settings = {}, redirects = [], access, variables: expected = []} = configuration;
  const paths = redirects.map(({from}) => from);
  const {
    copied,
    lacking = [],
    missingRedirects: redirected = [],
  } = copyFrom === undefined ? {} : await compareCopy(open, copyFrom, made?.targetSlug);
  if (copied !== undefined) outlet.note(`From ${copied.from}: ${describeTraits(copied)}`);
  if (Object.keys(configuration).length > 0)
    outlet.note(`From the configuration: ${describeTraits({settings, access, redirects: paths})}`);
  const present = new Set([...(made?.variables ?? []), ...(copied?.variables ?? [])]);
  const missing = [...new Set([...lacking, ...expected])].filter((name) => !present.has(name));
  const missingRedirects = configuration.prune === true ? [] : redirected;
  const lacks = made === undefined ? `${targetSlug} would lack` : `${made.targetSlug} lacks`;
  if (missing.length > 0) outlet.warn(`${lacks} ${count(missing.length, 'variable')}: ${missing.join(', ')}.`);
  if (missingRedirects.length > 0)
    outlet.warn(`${lacks} ${count(missingRedirects.length, 'redirect')}: ${listPaths(missingRedirects)}.`);
  return {...(copied && {copied, missingRedirects}), missing};
}
