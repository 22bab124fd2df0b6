import type {BundleId, DeploymentItem} from '../../backends/contract.js';
import {backendTitle} from '../../backends/names.js';
import {checkDefaults} from '../../settings/schemas.js';
import type {CheckOptions} from '../../settings/types.js';
import {createError, type Suggestion} from '../../errors/index.js';
import {asSentence, count} from '../../text/sentence.js';
import {reasonOf} from '../../errors/system-failure.js';
import {accessHeader} from '../../settings/target-settings.js';
import {quickLook, unlessUnreadable} from '../call-backend.js';
import {readHistory} from '../list-bundles.js';
import type {OpenBackend} from '../open-backend.js';
import type {CheckOutcome, CheckedAddress} from '../options.js';
import type {FailedCheck} from '../host.js';
import {accessOf} from '../targets/compare-target.js';
import {listedUrl, readTargets} from '../targets/find-targets.js';
import {sendsAccessHeader} from '../targets/previews.js';
import {clockSkewMs, createdTime} from '../pages.js';
import {pause} from './poll.js';
import type {Release} from './release.js';

export function shownPlace({url}: CheckOptions): string {
  return url.replace(/[?#].*/s, '');
}

interface Checked {
  readonly targetSlug: string;
  readonly url: string | undefined;
}

/** What a site asks visitors for: the access header of its target, or something else. */
type Wanted = 'access' | 'login';

export interface CheckedDeployment extends CheckOutcome {
  /** Of the target, as far as it is known by then. */
  readonly url: string | undefined;
  /** The check that the site refused, so that it tells nothing of what was deployed, and what the site wants. */
  readonly refused?: {readonly check: CheckOptions; readonly wants: Wanted} | undefined;
}

export async function checkDeployment(
  open: OpenBackend,
  {targetSlug, url: known}: Checked,
  checks: readonly CheckOptions[],
): Promise<CheckedDeployment> {
  const needsUrl = known === undefined && checks.some(({url}) => isPath(url));
  const url = needsUrl ? await unlessUnreadable(open, listedUrl(open, targetSlug)) : known;
  const results: CheckedAddress[] = [];
  for (const check of checks) {
    const {wants, ...result} = await runCheck(open, {targetSlug, url}, check);
    results.push(result);
    if (!result.passed) return {url, passed: false, checks: results, refused: wants && {check, wants}};
  }
  return {url, passed: true, checks: results};
}

/** `https://shop.example/health returned 200 after 2 attempts` */
export function describeChecks({checks}: CheckOutcome): string {
  const [first, ...more] = checks;
  if (first === undefined || more.length > 0) return `All ${String(checks.length)} checks passed`;
  const attempts = first.attempts > 1 ? ` after ${count(first.attempts, 'attempt')}` : '';
  return `${first.url} returned ${String(first.status)}${attempts}`;
}

async function runCheck(
  open: OpenBackend,
  checked: Checked,
  check: CheckOptions,
): Promise<CheckedAddress & {readonly wants?: Wanted | undefined}> {
  const {url: place, status, text, headers: own = {}, user, password = '', ...times} = check;
  const {retries = checkDefaults.retries, interval = checkDefaults.interval, timeout = checkDefaults.timeout} = times;
  const url = checkedUrl(place, checked.url);
  if (url === undefined) {
    const reason = `the ${backendTitle(open.project.backend)} backend does not report the URL of ${checked.targetSlug}`;
    return {url: shownPlace({url: place}), passed: false, attempts: 0, reason};
  }
  const {signal, secrets, host} = open;
  const {probe} = await import('../../http/probe.js');
  const {env, userAgent, logger} = host;
  const login =
    user === undefined ? {} : {authorization: `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`};
  const headers = {...login, ...own};
  const masked = [...secrets, password, ...Object.values(headers)];
  const shown = `${url.origin}${url.pathname}`;
  const accepts = (found: number) => (status === undefined ? found >= 200 && found < 300 : status.includes(found));
  const show = (description: string) => host.outlet.progress({phase: 'check', transferred: 0, description});
  show(shown);
  let isShut: boolean | undefined;
  for (let attempts = 1; ; attempts += 1) {
    const request = {url, accepts, text, headers, timeoutMs: timeout * 1000};
    const answer = await probe(request, {env, userAgent, logger, signal, secrets: masked});
    const result = {url: shown, attempts, status: answer.status};
    if (answer.problem === undefined) return {...result, passed: true};
    if (answer.status === 401 || answer.status === 403) isShut ??= await lacksAccessHeader(open, checked, check);
    const wants = isShut ? 'access' : answer.isRefused ? 'login' : undefined;
    // A site may not know a new header or user yet.
    const isFinal = wants === 'access' || (wants === 'login' && Object.keys(headers).length === 0);
    if (attempts > retries || isFinal) return {...result, passed: false, reason: answer.problem, wants};
    show(`${shown}, attempt ${String(attempts + 1)} of ${String(retries + 1)}: ${answer.problem}`);
    await pause(interval * 1000, signal);
  }
}

/** Whether a check of a target does not send the access header that the target asks for. */
async function lacksAccessHeader(open: OpenBackend, {targetSlug}: Checked, check: CheckOptions): Promise<boolean> {
  if (!isPath(check.url) || sendsAccessHeader(check) || open.backend.listAccess === undefined) return false;
  const access = await quickLook(open, (once) => accessOf(once, targetSlug));
  return access !== undefined && access.length > 0;
}

function isPath(place: string): boolean {
  return place.startsWith('/');
}

/** Verifies that the paths to check will have a URL. A target that does not exist yet may get one. */
export async function requireTargetUrl(open: OpenBackend, {targetSlug, checks}: Release): Promise<void> {
  const {backend} = open;
  const path = checks.find(({url}) => isPath(url))?.url;
  if (path === undefined || backend.listTargets === undefined) return;
  const read = async () => {
    const target = (await readTargets(open)).find((item) => item.targetSlug === targetSlug);
    if (target === undefined || target.url !== undefined) return [target];
    return backend.listDeployments ? [target, ...(await readHistory(open, targetSlug))] : [target];
  };
  const known = await unlessUnreadable(open, read(), ({code}) => code === 'ERR_MAINTENANCE');
  if (known === undefined || known.some((item) => item === undefined || item.url !== undefined)) return;
  throw createError(
    'ERR_CAPABILITY_UNSUPPORTED',
    `The ${backendTitle(backend.name)} backend does not report the URL of the target "${targetSlug}", so ${path} cannot be checked. Nothing was changed.`,
    {suggestions: [`Pass a full URL: --check https://HOST${path}`], details: {backend: backend.name, targetSlug}},
  );
}

/** The URL that a check looks at: its own, or its path below the URL of the target. */
function checkedUrl(place: string, targetUrl: string | undefined): URL | undefined {
  if (!isPath(place)) return new URL(place);
  if (targetUrl === undefined) return undefined;
  const {origin, pathname} = new URL(targetUrl);
  return new URL(`${origin}${pathname.replace(/(?<!\/)\/+$/, '')}${place}`);
}

interface Unhealthy {
  readonly bundleId: BundleId;
  readonly targetSlug: string;
  /** Whether to say how to roll back. */
  readonly goesBack: boolean;
}

export function checkFailed(open: OpenBackend, deployed: Unhealthy, {checks, refused}: CheckedDeployment): Error {
  const last = checks.at(-1) ?? {url: '', attempts: 0};
  const rollback = {run: ['bundle:rollback', ...open.flags(deployed.targetSlug)]};
  const advice = deployed.goesBack ? [['To roll back, run: ', rollback]] : [];
  return refused === undefined ? unhealthy(deployed, last, advice) : uncheckable(deployed, last, refused, advice);
}

type FailedResult = Pick<CheckedAddress, 'url' | 'attempts' | 'status' | 'reason'>;

function unhealthy(
  {bundleId, targetSlug}: Unhealthy,
  {url, attempts, reason = 'it did not pass'}: FailedResult,
  advice: readonly Suggestion[],
): Error {
  const times = attempts > 1 ? ` ${String(attempts)} times` : '';
  const message = `Bundle ${String(bundleId)} was deployed to ${targetSlug}, but the check of ${url} failed${times}: ${reason}`;
  return createError('ERR_UNHEALTHY', asSentence(message), {
    suggestions: [...(attempts === 0 ? ['Pass a full URL to check: --check https://HOST/PATH'] : []), ...advice],
  });
}

function uncheckable(
  {bundleId, targetSlug}: Unhealthy,
  {url, status, reason = ''}: FailedResult,
  {check, wants}: NonNullable<CheckedDeployment['refused']>,
  advice: readonly Suggestion[],
): Error {
  const message = `Bundle ${String(bundleId)} was deployed to ${targetSlug}, but cannot be checked, because ${url} is not public: ${reason}`;
  return createError('ERR_CHECK_REFUSED', asSentence(message), {
    suggestions: [
      wants === 'access'
        ? `${targetSlug} has an access header. Set MYCLI_CHECK_HEADER to ${accessHeader}=@FILE, a file with its value, or check.headers.`
        : loginAdvice(check),
      `If you expect that answer, set check.status to ${String(status)} in mycli.config.`,
      ...advice,
    ],
  });
}

function loginAdvice({headers = {}, user, password}: CheckOptions): string {
  if (user === undefined && password !== undefined)
    return 'The password was not sent, because the check has no user. Set MYCLI_CHECK_USER, or check.user in mycli.config.';
  return user !== undefined || Object.keys(headers).length > 0
    ? 'Check the user, the password and the headers of the check: the site refused them.'
    : 'Set MYCLI_CHECK_USER (or check.user in mycli.config) and MYCLI_CHECK_PASSWORD, or check.headers.';
}

export async function failedChecks(open: OpenBackend, targetSlug: string): Promise<readonly FailedCheck[]> {
  const {host} = open;
  const place = {...open.place(), targetSlug};
  const failed = await host.checkRecords?.read(place).catch((error: unknown) => {
    host.logger.warn(asSentence(`The record of failed checks cannot be read: ${reasonOf(error)}`));
    return [];
  });
  return failed ?? [];
}

export async function recordFailedCheck(open: OpenBackend, targetSlug: string, bundleId: BundleId): Promise<void> {
  const {host} = open;
  const place = {...open.place(), targetSlug};
  const failed = {bundleId, failedAt: host.now().toISOString()};
  await host.checkRecords?.add(place, failed).catch((error: unknown) => {
    host.logger.debug(asSentence(`The failed check could not be recorded: ${reasonOf(error)}`));
  });
}

/** Whether a deployment failed its check. A later one of the same bundle did not, or was not checked. */
export function hasFailedCheck(deployment: DeploymentItem, failed: readonly FailedCheck[]): boolean {
  return failed.some(
    ({bundleId, failedAt}) =>
      String(bundleId) === String(deployment.bundleId) && createdTime(deployment) <= Date.parse(failedAt) + clockSkewMs,
  );
}
