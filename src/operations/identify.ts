import {notConfigured, unsetOptions, type ResolvedBackend} from '../backends/resolve-backend.js';
import {callBackend, callInContext, withTimeout} from '../backends/call.js';
import {backendMembers} from '../backends/members.js';
import type {BuiltInContext, VerifiedCredentials} from '../backends/host-backend.js';
import type {BackendLoginContext, BackendVerifyContext} from '../backends/contract.js';
import {renewKey} from '../backends/legacy/backend.js';
import type {LegacyContext} from '../backends/legacy/connection.js';
import {amendError, createError, isRuntimeCliError} from '../errors/index.js';
import {isSettled} from '../operations/call-backend.js';
import {openBackend} from './open-backend.js';
import type {CommonOptions} from './options.js';
import type {Host, Outlet} from './host.js';

/** Somebody waits for the answer, and a wrong address is as likely as a network that recovers. */
const impatient = {rateLimit: {maxRetries: 1}};

/** No step shows what happens: somebody sees the question that waits for the answer. */
const silent: Outlet = {
  title: () => undefined,
  note: () => undefined,
  sends: () => undefined,
  settles: () => undefined,
  warn: () => undefined,
  progress: () => undefined,
  retry: () => undefined,
};

type Asking = Pick<CommonOptions, 'signal' | 'requestTimeout' | 'connectTimeout' | 'idleTimeout'>;

/** A login may wait for somebody, a service does not take that long. In milliseconds. */
const longestVerification = 60_000;

/** Whose the credentials are, if the service accepts them. Undefined if the backend cannot tell. */
export async function verifyBackend(
  resolved: ResolvedBackend,
  {projectSlug, targetSlug, ...call}: Asking & Pick<BackendVerifyContext, 'projectSlug' | 'targetSlug'>,
  host: Host,
): Promise<VerifiedCredentials | undefined> {
  const {backend} = resolved;
  if (resolved.problem !== undefined) throw resolved.problem;
  if (backend.verify === undefined) return undefined;
  const verify = async (own: BuiltInContext) => (await backend.verify?.({...own, projectSlug, targetSlug})) ?? {};
  const {context, secrets} = openService(resolved, call, host);
  const inTime = (own: BuiltInContext) => withTimeout(verify(own), longestVerification, own.signal);
  return callInContext(backend, {...backendMembers.verify, name: 'verify'}, await context(), inTime, secrets);
}

/** Lets a plugin's backend log the user in. Resolves to the secrets, which are masked from then on. */
export async function logIn(
  resolved: ResolvedBackend,
  {prompt, openUrl, ...call}: Asking & Pick<BackendLoginContext, 'prompt' | 'openUrl'>,
  host: Host,
): Promise<Readonly<Record<string, string>>> {
  const {backend} = resolved;
  const unset = unsetOptions(backend.required ?? [], resolved.options);
  const missing = unset.filter((option) => !backend.secrets?.includes(option));
  if (missing.length > 0) throw notConfigured(backend, missing, {}, host.env);
  const open = openService(resolved, call, host);
  const context = await open.context();
  const logsIn = async () => {
    const result = await backend.login?.({...context, projectSlug: undefined, prompt, openUrl});
    if (result !== undefined) return result;
    throw createError('ERR_CAPABILITY_UNSUPPORTED', `The ${backend.name} backend has no login of its own.`);
  };
  // No time limit: somebody may be at a web page meanwhile, or look for a password.
  const {secrets} = await callBackend(backend, backendMembers.login.doing, context.signal, logsIn, open.secrets);
  for (const secret of Object.values(secrets)) host.maskSecret?.(secret);
  // It may have been aborted too late to notice.
  call.signal?.throwIfAborted();
  return secrets;
}

/** Gets a new API key of Runtime (API key), which ends the one that it is asked for with. */
export async function renewApiKey(resolved: ResolvedBackend, call: Asking, host: Host): Promise<string> {
  const {backend} = resolved;
  if (resolved.problem !== undefined) throw resolved.problem;
  const {context, secrets} = openService(resolved, call, host);
  const member = {doing: 'renewing the API key', effect: 'writes'} as const;
  const renewing = callInContext(backend, member, await context(), (own) => renewKey(own as LegacyContext), secrets);
  return renewing.catch((error: unknown) => {
    if (!isRuntimeCliError(error) || isSettled(error)) throw error;
    throw amendError(error, {
      message: `The API key may have been replaced by one that was lost. ${error.message}`,
      advice: [
        ['Try the old one: ', {run: ['auth:status']}],
        'If it is refused, get one on the website of the service.',
      ],
    });
  });
}

function openService(resolved: ResolvedBackend, options: Asking, host: Host) {
  return openBackend(resolved, {...options, ...impatient, projectSlug: ''}, {...host, outlet: silent});
}
