import prettyBytes from 'pretty-bytes';
import {markup, shortened, type Html} from '../../html/html.js';
import {createRedactor} from '../../http/redact.js';
import type {RuntimeContext} from '../context.js';
import {deploymentState} from '../store/deployments.js';
import type {BundleRecord, DeploymentRecord} from '../store/records.js';
import {pagesPath} from './page-frame.js';

/** Longer messages and paths are cut. */
const longestText = 300;

/** How many rows a list has at most. */
export const listed = 100;

/** Masks the runtime's own credentials in text from outside. */
export function maskOf({credentials}: RuntimeContext): (text: string) => string {
  return createRedactor([credentials.apiKey, credentials.clientSecret]);
}

/** The path of a project's page. */
export function projectPath(projectSlug: string): string {
  return `${pagesPath}projects/${encodeURIComponent(projectSlug)}`;
}

/** The path of a bundle's page. */
export function bundlePath({projectSlug, id}: Pick<BundleRecord, 'projectSlug' | 'id'>): string {
  return `${projectPath(projectSlug)}/bundles/${String(id)}`;
}

/** Text from outside, in whatever direction it is written. */
export function foreign(text: string, longest = longestText): Html {
  return markup`<bdi class="message">${shortened(text, longest)}</bdi>`;
}

/** A link to a bundle that exists, else its name. */
export function bundleLink({store}: RuntimeContext, projectSlug: string, id: number): Html {
  const name = `Bundle ${String(id)}`;
  return store.bundle(projectSlug, id) === undefined
    ? markup`${name} (deleted)`
    : markup`<a href="${bundlePath({projectSlug, id})}">${name}</a>`;
}

const timeFormat = {dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23'} as const;

/** A time, in the time zone of the runtime, which is that of its user. */
export function timeText(iso: string): Html {
  return markup`<time datetime="${iso}">${new Date(iso).toLocaleString('en-GB', timeFormat)}</time>`;
}

const stateWords = {queued: 'Queued', in_progress: 'Deploying', finished: 'Finished', failed: 'Failed'} as const;

/** The state of a deployment. The one that is served is live. */
export function stateText(deployment: DeploymentRecord, {deployments, now}: RuntimeContext): Html {
  const {status, percentage} = deploymentState(deployment, now());
  const current = deployments.current(deployment.projectSlug, deployment.targetSlug);
  if (current?.number === deployment.number) return markup`<span class="state live">Live</span>`;
  const progress = status === 'in_progress' && percentage !== undefined ? ` ${String(percentage)}%` : '';
  return markup`<span class="state ${status}">${stateWords[status]}${progress}</span>`;
}

/** Bytes for people. */
export function bytesText(count: number): string {
  return prettyBytes(count);
}

/** A sentence about a list that is longer than what is shown. */
export function moreText(all: number, what: string): Html | undefined {
  return all > listed ? markup`<p class="soft">${String(all - listed)} older ${what} not shown.</p>` : undefined;
}
