import {html} from 'hono/html';
import prettyBytes from 'pretty-bytes';
import {slugProblems} from '../../settings/definitions.js';
import {HttpFailure} from '../answer.js';
import {findBundle, param, type Call, type RuntimeContext} from '../context.js';
import {siteUrl} from '../sites/site-address.js';
import {deploymentState} from '../store/deployments.js';
import type {BundleRecord, DeploymentRecord} from '../store/store.js';
import type {TargetStatus} from '../store/targets.js';
import * as page from './page.js';

const listed = 100;

export function projectPath(projectSlug: string): string {
  return `${page.pagesPath}projects/${encodeURIComponent(projectSlug)}`;
}

/** The first page: what runs where, and what happened last. */
export function showOverview(call: Call): Promise<Response> {
  const {store} = call.context;
  const projects = store.projects().slice(0, listed);
  const rows = projects.flatMap((project) => {
    const link = html`<a href="${projectPath(project)}">${page.foreign(project)}</a>`;
    const targets = targetRows(call, project);
    return targets.length === 0 ? [[link, '–', '–', '–', '–']] : targets.map((row) => [link, ...row]);
  });
  const what = page.table('What runs where', {
    columns: ['Project', 'Target', 'Live', 'Newest deployment', 'Variables'],
    rows,
  });
  const content = html`${page.liveSection('Projects', rows.length === 0 ? welcome(call.origin) : what)}
${page.liveSection('Newest deployments', deploymentTable(call, store.newestDeployments(8)))}`;
  return page.pageAnswer({title: 'What runs here', content});
}

function welcome(origin: string): page.Html {
  return html`<p>Nothing has been pushed yet. In another terminal, in the folder of your application:</p>
<ol>
<li>Point mycli at this runtime: copy the <code>export</code> lines that <code>mycli runtime:start</code> has printed. They set
the address, and an API key that this page does not show.
${page.textBlock('Variables', `export MYCLI_RUNTIME_ORIGIN=${origin}\nexport MYCLI_API_KEY=…`)}</li>
<li>Push what is in <code>build/</code>, and deploy it:
${page.textBlock('Command', 'mycli bundle:push --project my-shop --target staging --wait')}</li>
</ol>
<p>It appears here as soon as it has arrived. No need to reload.</p>`;
}

/**
 * The targets of a project: with a link to its app, the bundle that it serves, its newest deployment, and the names of
 * its variables.
 */
function targetRows(call: Call, projectSlug: string): page.Html[][] {
  const {store, deployments, targets} = call.context;
  return targets
    .slugs(projectSlug)
    .slice(0, listed)
    .map((targetSlug) => {
      const site = {projectSlug, targetSlug};
      const current = deployments.current(projectSlug, targetSlug);
      const [newest] = store.deployments(projectSlug, targetSlug);
      const name = page.foreign(targetSlug);
      return [
        current === undefined ? name : html`<a href="${siteUrl(call, {projectSlug, targetSlug})}">${name}</a>`,
        current === undefined ? html`Nothing is live` : bundleText(call.context, {...current, id: current.bundleId}),
        newest === undefined ? targetState(targets.status(site)) : stateText(newest, call.context),
        page.foreign(Object.keys(targets.record(site)?.variables ?? {}).join(', ') || '–'),
      ];
    });
}

const targetStates: Readonly<Partial<Record<TargetStatus, page.Html>>> = {
  creating: html`<span class="state in_progress">Creating</span>`,
  'create-failed': html`<span class="state failed">Failed</span>`,
  deleting: html`<span class="state in_progress">Deleting</span>`,
};

/** The state of a target that nothing was deployed to. */
function targetState(status: TargetStatus): page.Html {
  return targetStates[status] ?? html`–`;
}

function deploymentTable({context}: Call, deployments: readonly DeploymentRecord[]): page.Html {
  return page.table('Deployments, newest first', {
    columns: ['Bundle', 'Project', 'Target', 'State', 'Since', 'By'],
    rows: deployments.map((deployment) => [
      bundleText(context, {...deployment, id: deployment.bundleId}),
      page.foreign(deployment.projectSlug),
      page.foreign(deployment.targetSlug),
      stateText(deployment, context),
      page.timeText(deploymentState(deployment, context.now()).updatedAt),
      page.foreign(deployment.createdBy),
    ]),
    empty: 'Nothing has been deployed yet. Open a project to deploy a bundle.',
  });
}

/** A link to a bundle that exists, else its name, and its message. */
function bundleText(
  {store}: RuntimeContext,
  {projectSlug, id, message}: Pick<BundleRecord, 'projectSlug' | 'id' | 'message'>,
): page.Html {
  const name = `Bundle ${id}`;
  const exists = store.bundle(projectSlug, id) !== undefined;
  const link = exists ? html`<a href="${projectPath(projectSlug)}/bundles/${id}">${name}</a>` : `${name} (deleted)`;
  return html`${link} ${page.foreign(message)}`;
}

const stateWords = {queued: 'Queued', in_progress: 'Deploying', finished: 'Finished', failed: 'Failed'} as const;

/** The state of a deployment. The one that is served is live. */
function stateText(deployment: DeploymentRecord, {deployments, now}: RuntimeContext): page.Html {
  const {status, percentage} = deploymentState(deployment, now());
  const current = deployments.current(deployment.projectSlug, deployment.targetSlug);
  if (current?.number === deployment.number) return html`<span class="state live">Live</span>`;
  const progress = status === 'in_progress' && percentage !== undefined ? ` ${percentage}%` : '';
  return html`<span class="state ${status}">${stateWords[status]}${progress}</span>`;
}

export function showProject(call: Call): Promise<Response> {
  const {context, query} = call;
  const {store, deployments} = context;
  const projectSlug = param(call, 'projectSlug');
  if (!store.projects().includes(projectSlug)) {
    throw new HttpFailure(404, `There is no project "${projectSlug}". It is created by the first push to it.`);
  }
  const bundles = store.bundles(projectSlug);
  const targets = page.table('What runs where', {
    columns: ['Target', 'Live', 'Newest deployment', 'Variables'],
    rows: targetRows(call, projectSlug),
    empty: 'Nothing has been deployed yet.',
  });
  const newest = page.table(`${Math.min(listed, bundles.length)} of ${bundles.length} bundles, newest first`, {
    columns: ['Bundle', 'Size', 'Pushed', 'By', 'Live on'],
    rows: bundles
      .slice(0, listed)
      .map((bundle) => [
        bundleText(context, bundle),
        prettyBytes(bundle.size),
        page.timeText(bundle.createdAt),
        page.foreign(bundle.createdBy),
        page.foreign(deployments.targetsServing(bundle).join(', ') || '–'),
      ]),
    empty: 'All bundles of this project were deleted.',
  });
  const content = html`${query.get('done') === 'deploy' && page.notice('The deployment has started.')}
${page.liveSection('Targets', targets)}
${bundles.length > 0 && html`<h2>Deploy a bundle</h2>${deployForm(call, projectSlug, bundles)}`}
${page.liveSection('Bundles', newest)}
${page.liveSection('Deployments', deploymentTable(call, store.newestDeployments(listed, projectSlug)))}`;
  return page.pageAnswer({title: projectSlug, content});
}

export function deployForm({context}: Call, projectSlug: string, bundles: readonly BundleRecord[]): page.Html {
  const {store} = context;
  const [last] = store.newestDeployments(1, projectSlug);
  const options = bundles.slice(0, listed).map(({id, message}) => {
    return html`<option value="${id}">${id}: ${message.slice(0, 60)}</option>`;
  });
  return html`<form action="${projectPath(projectSlug)}/deploy" method="post">
<label for="deploy-bundle">Bundle</label>
<select id="deploy-bundle" name="bundle" data-live>${options}</select>
<label for="deploy-target">Target</label>
<input id="deploy-target" name="target" list="deploy-targets" value="${last?.targetSlug ?? 'staging'}" required autocomplete="off">
<datalist id="deploy-targets">${store.targets(projectSlug).map((target) => html`<option value="${target}"></option>`)}</datalist>
<button class="main">Deploy</button>
</form>`;
}

export async function deployBundle(call: Call): Promise<Response> {
  const projectSlug = param(call, 'projectSlug');
  const form = await page.readForm(call);
  const targetSlug = form.get('target')?.trim() ?? '';
  const [problem] = slugProblems('target', targetSlug);
  if (problem) throw new HttpFailure(400, `The slug of the target ${problem.message}.`);
  const bundle = findBundle(call, projectSlug, Number(form.get('bundle')));
  await call.context.deployments.deploy({bundle, targetSlug, createdBy: call.user});
  return page.seeOther(`${projectPath(projectSlug)}?done=deploy`);
}
