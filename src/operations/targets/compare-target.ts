import type {TargetConfiguration, TargetDifference} from './options.js';
import type {
  AccessItem,
  BackendCapability,
  Redirect,
  RedirectItem,
  TargetSettings,
  VariableItem,
} from '../../backends/contract.js';
import {backendTitle} from '../../backends/names.js';
import {rejectProblems} from '../../settings/definitions.js';
import {redirectFields, targetSettings} from '../../settings/target-settings.js';
import {invoke} from '../call-backend.js';
import {explainMissing} from '../explain-missing.js';
import type {OpenBackend} from '../open-backend.js';
import {allItems} from '../pages.js';

/** The state of a target, as far as it was read. */
export interface StateOfTarget {
  readonly settings: TargetSettings;
  readonly unsupported: readonly string[];
  readonly primary: boolean | undefined;
  readonly redirects: readonly RedirectItem[];
  readonly access: readonly AccessItem[];
  readonly variables: readonly string[];
}

export function readingCapabilities(wanted: TargetConfiguration): readonly BackendCapability[] {
  return [
    ...(wanted.settings !== undefined || wanted.primary === true ? (['target-settings'] as const) : []),
    ...(wanted.redirects === undefined ? [] : (['redirects'] as const)),
    ...(wanted.access === undefined ? [] : (['access'] as const)),
    ...(wanted.variables === undefined ? [] : (['variables'] as const)),
  ];
}

export async function readState(
  open: OpenBackend,
  targetSlug: string,
  wanted: TargetConfiguration,
): Promise<StateOfTarget> {
  const needed = readingCapabilities(wanted);
  const read = async <Result>(capability: BackendCapability, work: () => Promise<Result>, otherwise: Result) =>
    needed.includes(capability) ? work().catch(explainMissing(open, {targetSlug, capability})) : otherwise;
  const details = await read('target-settings', () => invoke(open, 'readTarget', {targetSlug}), undefined);
  return {
    settings: details?.settings ?? {},
    unsupported: details?.unsupported ?? [],
    primary: details?.primary,
    redirects: await read('redirects', () => redirectsOf(open, targetSlug), []),
    access: await read('access', () => accessOf(open, targetSlug), []),
    variables: needed.includes('variables') ? (await variablesOf(open, targetSlug)).map(({name}) => name) : [],
  };
}

export function redirectsOf(open: OpenBackend, targetSlug: string): Promise<readonly RedirectItem[]> {
  return allItems((range) => invoke(open, 'listRedirects', {...range, targetSlug}));
}

export async function variablesOf(open: OpenBackend, targetSlug: string): Promise<readonly VariableItem[]> {
  const variables = await allItems((range) => invoke(open, 'listVariables', {...range, targetSlug})).catch(
    explainMissing(open, {targetSlug, capability: 'variables'}),
  );
  return variables.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

export function accessOf(open: OpenBackend, targetSlug: string): Promise<readonly AccessItem[]> {
  return allItems((range) => invoke(open, 'listAccess', {...range, targetSlug}));
}

/** A value whose order does not matter, so that equal ones are the same text. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).toSorted().join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  const members = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return `{${members.map(([name, member]) => `${name}:${canonical(member)}`).join()}}`;
}

/** A redirect with all its fields, without its ID. */
export function completeRedirect({redirectId: _, ...redirect}: RedirectItem): Redirect {
  const entries = Object.entries(redirectFields).map(
    ([name, field]) => [name, Reflect.get(redirect, name) ?? field.default] as const,
  );
  return {...redirect, ...Object.fromEntries(entries)};
}

/** The settings that are not the default of the service. */
export function ownSettings(settings: TargetSettings): TargetSettings {
  const isOwn = ([name, value]: readonly [string, unknown]) =>
    value !== undefined && canonical(value) !== canonical(targetSettings[name]?.default);
  return Object.fromEntries(Object.entries(settings).filter(isOwn));
}

export async function currentConfiguration(open: OpenBackend, targetSlug: string): Promise<TargetConfiguration> {
  const {readTarget, listRedirects, listAccess, listVariables} = open.backend;
  const wanted = {
    ...(readTarget && {settings: {}, primary: true}),
    ...(listRedirects && {redirects: []}),
    ...(listAccess && {access: true}),
    ...(listVariables && {variables: []}),
  };
  const {settings, primary, redirects, access, variables} = await readState(open, targetSlug, wanted);
  const withoutDefaults = (redirect: Redirect) =>
    Object.entries(redirect).filter(([name, value]) => value !== redirectFields[name]?.default);
  const list = redirects.map(
    (one) => Object.fromEntries(withoutDefaults(completeRedirect(one))) as unknown as Redirect,
  );
  return {
    ...(readTarget && {settings: ownSettings(settings)}),
    ...(list.length > 0 && {redirects: list}),
    ...(access.length > 0 && {access: true}),
    ...(primary === true && {primary}),
    ...(variables.length > 0 && {variables}),
  };
}

export function compareTarget(state: StateOfTarget, wanted: TargetConfiguration): readonly TargetDifference[] {
  const differs = (before: unknown, after: unknown) => canonical(before) !== canonical(after);
  const settings = Object.entries(wanted.settings ?? {}).flatMap(([name, after]): TargetDifference[] => {
    const before: unknown = Reflect.get(state.settings, name);
    const isCompared = after !== undefined && !state.unsupported.includes(name);
    return isCompared && differs(before, after) ? [{kind: 'setting', name, before, after}] : [];
  });
  const isPrimary = wanted.primary !== true || state.primary === true || state.unsupported.includes('primary');
  const isShut = state.access.length > 0;
  const lacking = (wanted.variables ?? []).filter((name) => !state.variables.includes(name));
  return [
    ...settings,
    ...compareRedirects(state.redirects, wanted),
    ...(wanted.access === undefined || wanted.access === isShut
      ? []
      : [{kind: 'access', name: 'access', before: isShut, after: wanted.access} as const]),
    ...(isPrimary ? [] : [{kind: 'primary', name: 'primary', before: false, after: true} as const]),
    ...lacking.map((name) => ({kind: 'variable', name, after: 'set'}) as const),
  ];
}

function compareRedirects(
  known: readonly RedirectItem[],
  {redirects, prune = false}: TargetConfiguration,
): readonly TargetDifference[] {
  if (redirects === undefined) return [];
  const before = new Map(known.map((item) => [item.from, completeRedirect(item)]));
  const after = new Map(redirects.map((item) => [item.from, completeRedirect(item)]));
  const changed = [...after.values()].flatMap((redirect): TargetDifference[] => {
    const one = {kind: 'redirect', name: redirect.from, before: before.get(redirect.from), after: redirect} as const;
    return canonical(one.before) === canonical(redirect) ? [] : [one];
  });
  const extra = prune ? [...before.values()].filter(({from}) => !after.has(from)) : [];
  return [...changed, ...extra.map((one) => ({kind: 'redirect', name: one.from, before: one}) as const)];
}

/** What a service does not have of a configuration. */
export function unsupportedWarnings(
  {project}: Pick<OpenBackend, 'project'>,
  {unsupported}: Pick<StateOfTarget, 'unsupported'>,
  {settings = {}, primary}: TargetConfiguration,
): readonly string[] {
  const named = [...Object.keys(settings), ...(primary === true ? ['primary'] : [])];
  const lacking = named.filter((name) => unsupported.includes(name));
  if (lacking.length === 0) return [];
  return [
    `The ${backendTitle(project.backend)} backend does not have ${lacking.join(', ')}, which ${lacking.length === 1 ? 'is' : 'are'} ignored.`,
  ];
}

/** @throws RuntimeCliError `ERR_OPTION_INVALID` for what contradicts itself. */
export function verifyConfiguration({redirects = [], access}: TargetConfiguration, {rotate = false} = {}): void {
  const seen = new Set<string>();
  const twice = redirects.find(({from}) => seen.size === seen.add(from).size);
  rejectProblems([
    ...(twice === undefined
      ? []
      : [{option: 'redirects', message: `must have one redirect of ${twice.from}, not several`}]),
    ...(rotate && access === false ? [{option: 'rotate', message: 'needs access, which is false'}] : []),
  ]);
}
