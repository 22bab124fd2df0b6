import type {BuiltInContext} from '../backends/host-backend.js';
import {callInContext, withTimeout} from '../backends/call.js';
import type {Backend, BackendCapability, BackendContext, PlannedWrite} from '../backends/contract.js';
import {
  backendMembers,
  capabilitiesOf,
  capabilityTitle,
  type AnswerTo,
  type MemberName,
  type OptionalMember,
  type RequestOf,
} from '../backends/members.js';
import {backendTitle} from '../backends/names.js';
import {catalogue, createError, isRuntimeCliError, type ErrorCode, type RuntimeCliError} from '../errors/index.js';
import type {OpenBackend} from './open-backend.js';
import type {DryRunOptions} from './options.js';

type BackendMembers = {
  readonly [Name in OptionalMember]?: (
    request: RequestOf<Name>,
    context: BackendContext,
  ) => Promise<AnswerTo<Name>> | AnswerTo<Name>;
};

export async function invoke<Name extends OptionalMember>(
  open: Pick<OpenBackend, 'backend' | 'secrets' | 'context' | 'host' | 'signal'>,
  name: Name,
  request: RequestOf<Name>,
): Promise<AnswerTo<Name>> {
  const {backend, secrets} = open;
  const row = backendMembers[name];
  const members: BackendMembers = backend;
  const member: BackendMembers[Name] = members[name];
  if (member === undefined) throw unsupported(backend, row.capability);
  // Some members return an async iterable instead of a promise.
  const ask = (own: BuiltInContext) =>
    new Promise<AnswerTo<Name>>((resolve) => resolve(member.call(backend, request, own)));
  const context = await open.context();
  const call = () => callInContext(backend, {...row, name}, context, ask, secrets);
  return row.effect === 'writes' ? sendChange(open, name, call) : call();
}

/** Makes a call that changes something. The run knows as long as it may have been carried out without an answer. */
export async function sendChange<Result>(
  {host: {outlet}, signal}: Pick<OpenBackend, 'host' | 'signal'>,
  name: MemberName,
  call: () => Promise<Result>,
): Promise<Result> {
  outlet.sends(name);
  try {
    const result = await call();
    outlet.settles(true);
    return result;
  } catch (error) {
    if (!signal.aborted && isSettled(error)) outlet.settles(false);
    throw error;
  }
}

/** A look that only improves a message: once, for at most 2 s. Undefined if it fails: the outcome is the same. */
export async function quickLook<Result>(
  open: OpenBackend,
  look: (open: OpenBackend) => Promise<Result>,
  {once = true, longestMs = 2000} = {},
): Promise<Result | undefined> {
  try {
    const limited = open.with({once, signal: AbortSignal.timeout(longestMs)});
    return await withTimeout(look(limited), longestMs, open.signal);
  } catch {
    return undefined;
  }
}

/**
 * What can be read. Undefined if the service refuses or fails, unless `isFatal`: what the caller is about to do will
 * tell. That it was not reached is shown, as its retries were.
 */
export async function unlessUnreadable<Result>(
  {signal, host}: OpenBackend,
  reading: Promise<Result>,
  isFatal: (error: RuntimeCliError) => boolean = () => false,
): Promise<Result | undefined> {
  return reading.catch((error: unknown) => {
    signal.throwIfAborted();
    if (!isRuntimeCliError(error) || isFatal(error)) throw error;
    if (catalogue[error.code].kind === 'network') host.outlet.note(error.message);
    return undefined;
  });
}

/** A change that is to be made. With `dryRun`, it is only planned. */
interface Change extends Omit<PlannedWrite, 'backend' | 'projectSlug' | 'bundleIds'>, DryRunOptions {
  readonly bundleIds?: PlannedWrite['bundleIds'];
}

export async function allowChange(
  {project, host}: OpenBackend,
  {dryRun = false, bundleIds = [], ...change}: Change,
): Promise<void> {
  await host.beforeWrite?.({...change, ...project, bundleIds}, {dryRun});
}

const unsettled: ReadonlySet<string> = new Set<ErrorCode>([
  'ERR_INTERRUPTED',
  'ERR_OUTCOME_UNKNOWN',
  'ERR_SERVER',
  'ERR_RESPONSE_INVALID',
  'ERR_BACKEND_FAILED',
]);

/** Whether a request that failed like this was not carried out. */
export function isSettled(error: unknown): boolean {
  return isRuntimeCliError(error) && !unsettled.has(error.code);
}

/** How the call of a change ended that was carried out all the same: `the answer of the service was lost.` */
export function describeUnsettled({code, status, message}: RuntimeCliError): string {
  if (code !== 'ERR_OUTCOME_UNKNOWN' || status !== undefined) return `the request failed: ${message}`;
  return 'the answer of the service was lost.';
}

export function requireCapability(backend: Backend, capability: BackendCapability): void {
  if (!capabilitiesOf(backend).includes(capability)) throw unsupported(backend, capability);
}

function unsupported(backend: Backend, capability: BackendCapability): Error {
  const message = `The ${backendTitle(backend.name)} backend does not support ${capabilityTitle(capability)}.`;
  return createError('ERR_CAPABILITY_UNSUPPORTED', message, {
    suggestions: [['Run ', {run: ['backend:list']}, ' to compare backends.']],
    details: {backend: backend.name, capability},
  });
}
