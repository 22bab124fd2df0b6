import {randomBytes} from 'node:crypto';
import {setTimeout as pause} from 'node:timers/promises';
import type {ApplyTargetOptions, TargetConfiguration, TargetDifference} from './options.js';
import type {BackendCapability, Redirect, RedirectItem, TargetSettings} from '../../backends/contract.js';
import {amendError, isRuntimeCliError, type RuntimeCliError} from '../../errors/index.js';
import {accessPrefix} from '../../files/own-files.js';
import {accessHeader} from '../../settings/target-settings.js';
import {describeUnsettled, invoke, isSettled} from '../call-backend.js';
import type {OpenBackend} from '../open-backend.js';
import {sideBySide} from '../side-by-side.js';
import {listedUrl} from './find-targets.js';
import {accessOf, compareTarget, readingCapabilities, readState, type StateOfTarget} from './compare-target.js';

export function applyingCapabilities(wanted: TargetConfiguration): readonly BackendCapability[] {
  const writes: Partial<Record<BackendCapability, BackendCapability>> = {
    'target-settings': 'update-target',
    redirects: 'change-redirects',
    access: 'change-access',
  };
  return readingCapabilities(wanted).flatMap((capability) => [capability, writes[capability] ?? []].flat());
}

export const newAccessValue = () => `${accessPrefix}${randomBytes(24).toString('base64url')}`;

/** How a target is changed. `value`: of the access header, if one is made. */
export interface Applying extends Pick<ApplyTargetOptions, 'onAccess'> {
  readonly open: OpenBackend;
  readonly targetSlug: string;
  readonly wanted: TargetConfiguration;
  readonly value: string;
}

interface Change {
  readonly what: string;
  readonly send: () => Promise<void>;
  /** Whether a target has it. `left`: the differences that there are. */
  readonly isDone: (state: StateOfTarget, left: ReadonlySet<string>) => boolean;
  readonly makesAccess?: true;
}

const keyOf = ({kind, name}: Pick<TargetDifference, 'kind' | 'name'>) => `${kind} ${name}`;

/** Changes what differs: redirects are added before others go, and what publishes the target again comes last. */
export async function applyConfiguration(applying: Applying, state: StateOfTarget): Promise<void> {
  for (const changes of stagesOf(applying, state)) await carryOut(changes, applying);
}

/** The requests that end the differences, in their order. Those of a stage may be sent side by side. */
function stagesOf({open, targetSlug, wanted, value}: Applying, state: StateOfTarget): readonly (readonly Change[])[] {
  const differences = compareTarget(state, wanted);
  const ofKind = (kind: TargetDifference['kind']) => differences.filter((one) => one.kind === kind);
  const [redirects, settings] = [ofKind('redirect'), ofKind('setting')];
  const ids = new Map(state.redirects.map(({from, redirectId}) => [from, redirectId]));
  const redirectChange = (difference: TargetDifference): Change => {
    const {name, before, after} = difference;
    const change = after === undefined ? 'remove' : before === undefined ? 'add' : 'replace';
    const redirect: RedirectItem = {...((after ?? before) as Redirect), redirectId: ids.get(name)};
    return {
      what: `The redirect of ${name}`,
      send: () => invoke(open, 'changeRedirect', {targetSlug, change, redirect}),
      isDone: (_, left) => !left.has(keyOf(difference)),
    };
  };
  const opens = ofKind('access').some(({after}) => after === false);
  const values: TargetSettings = Object.fromEntries(settings.map(({name, after}) => [name, after]));
  return [
    redirects.filter(({after}) => after !== undefined).map(redirectChange),
    redirects.filter(({after}) => after === undefined).map(redirectChange),
    ofKind('access').length > 0 && !opens ? [accessAddition({open, targetSlug, value}, state)] : [],
    opens ? state.access.map(({accessId}) => accessRemoval({open, targetSlug}, accessId)) : [],
    ofKind('primary').map((difference) => ({
      what: 'The primary target',
      send: () => invoke(open, 'updateTarget', {targetSlug, settings: {}, primary: true}),
      isDone: (_: StateOfTarget, left: ReadonlySet<string>) => !left.has(keyOf(difference)),
    })),
    settings.length === 0
      ? []
      : [
          {
            what: `The ${settings.length === 1 ? 'setting' : 'settings'} ${settings.map(({name}) => name).join(', ')}`,
            send: () => invoke(open, 'updateTarget', {targetSlug, settings: values}),
            isDone: (_: StateOfTarget, left: ReadonlySet<string>) => settings.every((one) => !left.has(keyOf(one))),
          },
        ],
  ];
}

function accessAddition(
  {open, targetSlug, value}: Pick<Applying, 'open' | 'targetSlug' | 'value'>,
  {access}: Pick<StateOfTarget, 'access'>,
): Change {
  return {
    what: 'The access header',
    send: () => invoke(open, 'changeAccess', {targetSlug, add: value}),
    isDone: ({access: now}) => now.length > access.length,
    makesAccess: true,
  };
}

function accessRemoval({open, targetSlug}: Pick<Applying, 'open' | 'targetSlug'>, accessId: string): Change {
  return {
    what: 'An access header',
    send: () => invoke(open, 'changeAccess', {targetSlug, remove: accessId}),
    isDone: ({access}) => access.every((one) => one.accessId !== accessId),
  };
}

/** Sends requests, a few at a time. After a lost answer, it looks, and continues with the rest. */
async function carryOut(changes: readonly Change[], applying: Applying): Promise<void> {
  const {open, targetSlug, wanted} = applying;
  let left = changes;
  while (left.length > 0) {
    const lost = new Map<Change, RuntimeCliError>();
    const send = async (change: Change) => {
      try {
        await change.send();
      } catch (error) {
        if (!isRuntimeCliError(error) || open.signal.aborted) throw error;
        if (!isSettled(error)) lost.set(change, error);
        throw about(change, error, 'could not be changed');
      }
    };
    const [sent] = await Promise.allSettled([sideBySide(left, send)]);
    if (sent.status === 'fulfilled') break;
    const failure: unknown = sent.reason;
    if (lost.size === 0 || open.signal.aborted) throw failure;
    const state = await readState(open, targetSlug, wanted).catch(() => undefined);
    open.signal.throwIfAborted();
    const differences = new Set(state && compareTarget(state, wanted).map(keyOf));
    const isDone = (change: Change) => state !== undefined && change.isDone(state, differences);
    for (const [change, error] of lost) {
      if (!isDone(change)) throw about(change, error, 'may have been changed');
      open.host.outlet.settles(true);
      open.host.outlet.warn(`${change.what} changed, but ${describeUnsettled(error)}`);
    }
    if (![...lost.keys()].every(isDone) || !isRuntimeCliError(failure) || isSettled(failure)) throw failure;
    left = left.filter((change) => !isDone(change));
  }
  if (changes.some(({makesAccess}) => makesAccess)) applying.onAccess?.(applying.value);
}

/** `The redirect of /old could not be changed: ...`: `what` may be several. */
function about({what}: Change, error: RuntimeCliError, outcome: string): Error {
  return amendError(error, {message: `${what} ${outcome}: ${error.message}`});
}

/** How long a new access header may take to work, in attempts and seconds between. */
const [attempts, secondsBetween] = [10, 3] as const;

/** Makes a new access header, and removes those before once it works, so that nobody is shut out meanwhile. */
export async function rotateAccess(given: Applying): Promise<void> {
  const applying = {...given, wanted: {access: true}};
  const {open, targetSlug, value} = applying;
  const state = {access: await accessOf(open, targetSlug)};
  await carryOut([accessAddition(applying, state)], applying);
  const advice = 'The old ones still work, too. To remove them, rotate again.';
  if (!(await works(open, targetSlug, value))) {
    open.host.outlet.warn(`${targetSlug} does not accept the new access header yet. ${advice}`);
    return;
  }
  const removals = state.access.map(({accessId}) => accessRemoval(applying, accessId));
  await carryOut(removals, applying);
}

/** Whether a target lets a visitor in who sends this header. One without a URL can't be asked. */
async function works(open: OpenBackend, targetSlug: string, value: string): Promise<boolean> {
  const url = await listedUrl(open, targetSlug);
  if (url === undefined) return true;
  const {probe} = await import('../../http/probe.js');
  const {env, userAgent, logger} = open.host;
  const accepts = (status: number) => status !== 401 && status !== 403;
  const request = {url: new URL(url), accepts, headers: {[accessHeader]: value}, timeoutMs: 10_000};
  for (let attempt = 1; ; attempt += 1) {
    const {problem} = await probe(request, {env, userAgent, logger, signal: open.signal, secrets: [value]});
    if (problem === undefined || attempt === attempts) return problem === undefined;
    await pause(secondsBetween * 1000, undefined, {signal: open.signal});
  }
}
