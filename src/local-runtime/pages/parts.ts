import type {RuntimeContext} from '../context.js';
import {deploymentState} from '../store/deployments.js';
import type {BundleRecord, DeploymentRecord} from '../store/store.js';
import {foreign, markup, type Html} from './html.js';
import {pagesPath} from './page.js';

/** How many rows a list has at most. */
export const listed = 100;

/** The path of a project's page. */
export function projectPath(projectSlug: string): string {
  return `${pagesPath}projects/${encodeURIComponent(projectSlug)}`;
}

/** A link to a bundle that exists, else its name, and its message. */
export function bundleText(
  {store, mask}: RuntimeContext,
  bundle: Pick<BundleRecord, 'projectSlug' | 'id' | 'message'>,
) {
  const {projectSlug, id, message} = bundle;
  const name = `Bundle ${id}`;
  const link =
    store.bundle(projectSlug, id) === undefined
      ? `${name} (deleted)`
      : markup`<a href="${projectPath(projectSlug)}/bundles/${id}">${name}</a>`;
  return markup`${link} ${foreign(mask(message), 120)}`;
}

/** A time, in the time zone of the runtime, which is that of its user. */
export function timeText(iso: string): Html {
  const format = {dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23'} as const;
  return markup`<time datetime="${iso}">${new Date(iso).toLocaleString('en-GB', format)}</time>`;
}

const stateWords = {queued: 'Queued', in_progress: 'Deploying', finished: 'Finished', failed: 'Failed'} as const;

/** The state of a deployment. The one that is served is live. */
export function stateText(deployment: DeploymentRecord, {deployments, now}: RuntimeContext): Html {
  const {status, percentage} = deploymentState(deployment, now());
  const current = deployments.current(deployment.projectSlug, deployment.targetSlug);
  if (current?.number === deployment.number) return markup`<span class="state live">Live</span>`;
  const progress = status === 'in_progress' && percentage !== undefined ? ` ${percentage}%` : '';
  return markup`<span class="state ${status}">${stateWords[status]}${progress}</span>`;
}

/** What became of the newest deployment of a project, or of all, in a sentence. */
export function newsOf({store, now}: RuntimeContext, projectSlug?: string): string | undefined {
  const [newest] = store.newestDeployments(1, projectSlug);
  if (newest === undefined) return undefined;
  const {status} = deploymentState(newest, now());
  const verb = {queued: 'Deploying', in_progress: 'Deploying', finished: 'Deployed', failed: 'Failed to deploy'}[
    status
  ];
  return `${verb} bundle ${newest.bundleId} to ${newest.targetSlug} of ${newest.projectSlug}.`;
}
