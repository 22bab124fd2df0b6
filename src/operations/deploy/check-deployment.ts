import {shownUrl} from '../../backends/answers.js';
import type {DeploymentItem} from '../../backends/contract.js';
import {backendTitle} from '../../backends/names.js';
import {checkDefaults} from '../../settings/schemas.js';
import type {CheckOptions} from '../../settings/types.js';
import type {ProbeAnswer} from '../../http/probe.js';
import {createError, interrupted, isRuntimeCliError} from '../../errors/index.js';
import {asSentence, count} from '../../text/sentence.js';
import {reasonOf} from '../../errors/system-failure.js';
import {readHistory} from '../list-bundles.js';
import type {OpenBackend} from '../open-backend.js';
import type {CheckOutcome, CheckedAddress} from '../options.js';
import type {FailedCheck} from '../host.js';
import {listedUrl, readTargets} from '../targets/find-targets.js';
import {clockSkewMs, createdTime} from '../pages.js';
import {pause} from './poll.js';
import type {AcceptedDeployment, Release} from './release.js';

export function shownPlace({url}: CheckOptions): string {
  return url.replace(/[?#].*/s, '');
}

/** Checks what was deployed: each check in turn, until one does not pass. */
export async function checkDeployment(finished: AcceptedDeployment): Promise<CheckOutcome> {
  const {open, release} = finished;
  const {checks} = release;
  const results: CheckedAddress[] = [];
  try {
    const deployed = {...finished, url: finished.url ?? (await urlOfPaths(finished))};
    for (const check of checks) {
      const {isRefused, ...result} = await runCheck(deployed, check);
      results.push(result);
      if (result.passed) continue;
      if (isRefused === true) throw uncheckable(deployed, results, result, check);
      await recordFailedCheck(finished);
      throw unhealthy(deployed, results, result);
    }
  } catch (error) {
    throw open.signal.aborted ? interruptedCheck(error, finished) : error;
  }
  return {passed: true, checks: results};
}

/** `https://shop.example/health returned 200 after 2 attempts` */
export function describeChecks({checks}: CheckOutcome): string {
  const [first, ...more] = checks;
  if (first === undefined || more.length > 0) return `All ${String(checks.length)} checks passed`;
  const attempts = first.attempts > 1 ? ` after ${count(first.attempts, 'attempt')}` : '';
  return `${first.url} returned ${String(first.status)}${attempts}`;
}

/** The URL of the target in the backend's list, if there are paths to check. */
async function urlOfPaths({open, release}: AcceptedDeployment): Promise<string | undefined> {
  const {checks, targetSlug} = release;
  if (!checks.some(({url}) => isPath(url))) return undefined;
  return unlessUnreadable(open, () => listedUrl(open, targetSlug));
}

async function runCheck(
  deployed: AcceptedDeployment,
  {url: place, status, text, headers: own = {}, user, password = '', ...times}: CheckOptions,
): Promise<CheckedAddress & Pick<ProbeAnswer, 'isRefused'>> {
  const {retries = checkDefaults.retries, interval = checkDefaults.interval, timeout = checkDefaults.timeout} = times;
  const url = checkedUrl(place, deployed.url);
  if (url === undefined) {
    const reason = `the ${backendTitle(deployed.open.project.backend)} backend does not report the URL of ${deployed.release.targetSlug}`;
    return {url: shownPlace({url: place}), passed: false, attempts: 0, reason};
  }
  const {signal, secrets, host} = deployed.open;
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
  for (let attempts = 1; ; attempts += 1) {
    const request = {url, accepts, text, headers, timeoutMs: timeout * 1000};
    const answer = await probe(request, {env, userAgent, logger, signal, secrets: masked});
    const result = {url: shown, attempts, status: answer.status};
    if (answer.problem === undefined) return {...result, passed: true};
    if (attempts > retries) return {...result, passed: false, reason: answer.problem, isRefused: answer.isRefused};
    show(`${shown}, attempt ${String(attempts + 1)} of ${String(retries + 1)}: ${answer.problem}`);
    await pause(interval * 1000, signal);
  }
}

function isPath(place: string): boolean {
  return place.startsWith('/');
}

/**
 * Verifies before a deployment that the paths to check will have a URL. A target that does not exist yet may get one,
 * and what cannot be read now may be known after the deployment.
 */
export async function requireTargetUrl(open: OpenBackend, {targetSlug, checks}: Release): Promise<void> {
  const {backend} = open;
  const path = checks.find(({url}) => isPath(url))?.url;
  if (path === undefined || backend.listTargets === undefined) return;
  const known = await unlessUnreadable(open, async () => {
    const target = (await readTargets(open)).find((item) => item.targetSlug === targetSlug);
    if (target === undefined || shownUrl(target.url) !== undefined) return [target];
    return backend.listDeployments ? [target, ...(await readHistory(open, targetSlug))] : [target];
  });
  if (known === undefined || known.some((item) => item === undefined || shownUrl(item.url) !== undefined)) return;
  throw createError(
    'ERR_CAPABILITY_UNSUPPORTED',
    `The ${backendTitle(backend.name)} backend does not report the URL of the target "${targetSlug}", so ${path} cannot be checked. Nothing was changed.`,
    {suggestions: [`Pass a full URL: --check https://HOST${path}`], details: {backend: backend.name, targetSlug}},
  );
}

/** What can be read. Undefined if the service refuses or fails. */
async function unlessUnreadable<Result>(open: OpenBackend, read: () => Promise<Result>): Promise<Result | undefined> {
  try {
    return await read();
  } catch (error) {
    if (open.signal.aborted || !isRuntimeCliError(error)) throw error;
    return undefined;
  }
}

/** The URL that a check looks at: its own, or its path below the URL of the target. */
function checkedUrl(place: string, targetUrl: string | undefined): URL | undefined {
  if (!isPath(place)) return new URL(place);
  if (targetUrl === undefined) return undefined;
  const {origin, pathname} = new URL(targetUrl);
  return new URL(`${origin}${pathname.replace(/(?<!\/)\/+$/, '')}${place}`);
}

/** The error for a deployment that finished and did not pass a check. */
function unhealthy(
  deployed: AcceptedDeployment,
  checks: readonly CheckedAddress[],
  {url, attempts, reason = 'it did not pass'}: CheckedAddress,
): Error {
  const {open, release, bundleId} = deployed;
  const {targetSlug, watch} = release;
  const times = attempts > 1 ? ` ${String(attempts)} times` : '';
  const message = `Bundle ${String(bundleId)} was deployed to ${targetSlug}, but the check of ${url} failed${times}: ${reason}`;
  const hasHistory = open.backend.listDeployments !== undefined;
  return createError('ERR_UNHEALTHY', asSentence(message), {
    suggestions: [
      ...(attempts === 0 ? ['Pass a full URL to check: --check https://HOST/PATH'] : []),
      ...(watch || !hasHistory ? [] : [['To roll back, run: ', {run: ['bundle:rollback', ...open.flags(targetSlug)]}]]),
    ],
    details: detailsOf(deployed, checks),
  });
}

/** The error for a finished deployment whose check was refused access. */
function uncheckable(
  deployed: AcceptedDeployment,
  checks: readonly CheckedAddress[],
  {url, status, reason = ''}: CheckedAddress,
  {headers = {}, user}: CheckOptions,
): Error {
  const {release, bundleId} = deployed;
  const {targetSlug, watch} = release;
  const kept = watch === undefined ? '' : ' It was not rolled back.';
  const message = `Bundle ${String(bundleId)} was deployed to ${targetSlug}, but cannot be checked, because ${url} is not public: ${reason}`;
  const isGiven = user !== undefined || Object.keys(headers).length > 0;
  return createError('ERR_CHECK_REFUSED', `${asSentence(message)}${kept}`, {
    suggestions: [
      isGiven
        ? 'Check the user, the password and the headers of the check: the site refused them.'
        : 'Set check.user in mycli.config and MYCLI_CHECK_PASSWORD, or check.headers.',
      `If that is the answer to expect, set check.status to ${String(status)} in mycli.config.`,
    ],
    details: detailsOf(deployed, checks),
  });
}

function detailsOf(
  {open, release: {targetSlug}, bundleId, deployment, url}: AcceptedDeployment,
  checks: readonly CheckedAddress[],
) {
  const check: CheckOutcome = {passed: false, checks};
  return {
    ...open.project,
    bundleId,
    targetSlug,
    status: 'finished',
    deployment,
    ...(url !== undefined && {url}),
    check,
  };
}

function interruptedCheck(reason: unknown, {open, release, bundleId, deployment}: AcceptedDeployment): unknown {
  const {targetSlug, watch} = release;
  const notRolledBack = watch !== undefined ? ' It was not rolled back.' : '';
  const state = `Bundle ${String(bundleId)} is deployed to ${targetSlug}, but has not passed its check yet.${notRolledBack}`;
  const details = {backend: open.project.backend, bundleId, deployment, status: 'finished'};
  return interrupted(reason, state, {details});
}

/** The bundles that failed a check on a target, as far as they were recorded. */
export async function failedChecks(open: OpenBackend, targetSlug: string): Promise<readonly FailedCheck[]> {
  const {host} = open;
  const place = {...open.place(), targetSlug};
  const failed = await host.checkRecords?.read(place).catch((error: unknown) => {
    host.logger.warn(asSentence(`The record of failed checks cannot be read: ${reasonOf(error)}`));
    return [];
  });
  return failed ?? [];
}

async function recordFailedCheck({open, release, bundleId}: AcceptedDeployment): Promise<void> {
  const {host} = open;
  const place = {...open.place(), targetSlug: release.targetSlug};
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
