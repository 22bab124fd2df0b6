import {html} from 'hono/html';
import prettyBytes from 'pretty-bytes';
import {slugProblems} from '../../settings/option-problems.js';
import {HttpFailure} from '../answer.js';
import {param, type AdmittedCall, type RuntimeContext} from '../context.js';
import {siteUrl} from '../sites/site-address.js';
import {deploymentState} from '../store/deployments.js';
import type {BundleRecord, DeploymentRecord} from '../store/store.js';
import {findBundle} from '../wire/requested-records.js';
import {
  foreign,
  notice,
  pageAnswer,
  pagesPath,
  readForm,
  seeOther,
  table,
  textBlock,
  timeText,
  type Html,
} from './page.js';

/** How many rows a list has at most. */
const listed = 100;

/** The path of a project's page. */
export function projectPath(projectSlug: string): string {
  return `${pagesPath}projects/${encodeURIComponent(projectSlug)}`;
}

/** The first page: what runs where, and what happened last. */
export function showOverview(call: AdmittedCall): Promise<Response> {
  const {store} = call.context;
  const projects = store.projects().slice(0, listed);
  const content =
    projects.length === 0
      ? welcome(call.origin)
      : html`<h2>Projects</h2>
          ${table('What runs where', {
  titles: ['Project', 'Target', 'Live', 'Newest deployment'],
  rows: projects.flatMap((project) => {
    const link = html`<a href="${projectPath(project)}">${foreign(project)}</a>`;
    const rows = targetRows(call, project);
    return rows.length === 0 ? [[link, '–', '–', '–']] : rows.map((row) => [link, ...row]);
  }),
})}
          <h2>Newest deployments</h2>
          ${deploymentTable(call, store.newestDeployments(8))}`;
  const live = html`<div id="overview" data-live>${content}</div>`;
  return pageAnswer({title: 'What runs here', place: 'Projects', content: live});
}

function welcome(origin: string): Html {
  return html`<p>Nothing has been pushed yet. In another terminal, in the folder of your application:</p>
    <ol>
      <li>
        Point mycli at this runtime: copy the <code>export</code> lines that <code>mycli runtime:start</code> has
        printed. They set the address, and an API key that this page does not show.
        ${textBlock('Variables', `export MYCLI_RUNTIME_ORIGIN=${origin}\nexport MYCLI_API_KEY=…`)}
      </li>
      <li>
        Push what is in <code>build/</code>, and deploy it:
        ${textBlock('Command', 'mycli bundle:push --project my-shop --target staging --wait')}
      </li>
    </ol>
    <p>It appears here as soon as it has arrived. No need to reload.</p>`;
}

/** The targets of a project: with a link to its app, the bundle that it serves, and its newest deployment. */
function targetRows(call: AdmittedCall, projectSlug: string): Html[][] {
  const {store, deployments} = call.context;
  return store
    .targets(projectSlug)
    .slice(0, listed)
    .map((targetSlug) => {
      const current = deployments.current(projectSlug, targetSlug);
      const [newest] = store.deployments(projectSlug, targetSlug);
      const name = foreign(targetSlug);
      return [
        current === undefined ? name : html`<a href="${siteUrl(call, {projectSlug, targetSlug})}">${name}</a>`,
        current === undefined ? html`Nothing is live` : bundleText(call.context, {...current, id: current.bundleId}),
        newest === undefined ? html`–` : stateText(newest, call.context),
      ];
    });
}

function deploymentTable({context}: AdmittedCall, deployments: readonly DeploymentRecord[]): Html {
  return table('Deployments, newest first', {
    titles: ['Bundle', 'Project', 'Target', 'State', 'Since', 'By'],
    rows: deployments.map((deployment) => [
      bundleText(context, {...deployment, id: deployment.bundleId}),
      foreign(deployment.projectSlug),
      foreign(deployment.targetSlug),
      stateText(deployment, context),
      timeText(deploymentState(deployment, context.now()).updatedAt),
      foreign(deployment.createdBy),
    ]),
    empty: 'Nothing has been deployed yet. Open a project to deploy a bundle.',
  });
}

/** A link to a bundle that exists, else its name, and its message. */
function bundleText(
  {store}: RuntimeContext,
  {projectSlug, id, message}: Pick<BundleRecord, 'projectSlug' | 'id' | 'message'>,
): Html {
  const name = `Bundle ${id}`;
  const exists = store.bundle(projectSlug, id) !== undefined;
  const link = exists ? html`<a href="${projectPath(projectSlug)}/bundles/${id}">${name}</a>` : `${name} (deleted)`;
  return html`${link} ${foreign(message)}`;
}

const stateWords = {queued: 'Queued', in_progress: 'Deploying', finished: 'Finished', failed: 'Failed'} as const;

/** The state of a deployment. The one that is served is live. */
function stateText(deployment: DeploymentRecord, {deployments, now}: RuntimeContext): Html {
  const {status, percentage} = deploymentState(deployment, now());
  const current = deployments.current(deployment.projectSlug, deployment.targetSlug);
  if (current?.number === deployment.number) return html`<span class="state live">Live</span>`;
  const progress = status === 'in_progress' && percentage !== undefined ? ` ${percentage}%` : '';
  return html`<span class="state ${status}">${stateWords[status]}${progress}</span>`;
}

/** The page of a project: its targets, deployments and bundles. */
export function showProject(call: AdmittedCall): Promise<Response> {
  const {context, query} = call;
  const {store, deployments} = context;
  const projectSlug = param(call, 'projectSlug');
  if (!store.projects().includes(projectSlug)) {
    throw new HttpFailure(404, `There is no project "${projectSlug}". It is created by the first push to it.`);
  }
  const bundles = store.bundles(projectSlug);
  const content = html`${query.get('done') === 'deploy' && notice('The deployment has started.')}
    <section id="targets" data-live>
      <h2>Targets</h2>
      ${table('What runs where', {
  titles: ['Target', 'Live', 'Newest deployment'],
  rows: targetRows(call, projectSlug),
  empty: 'Nothing has been deployed yet.',
})}
    </section>
    ${
  bundles.length > 0 &&
  html`<h2>Deploy a bundle</h2>
    ${deployForm(call, projectSlug, bundles)}`
}
    <section id="bundles" data-live>
      <h2>Bundles</h2>
      ${table(bundles.length > listed ? `The newest ${listed} of ${bundles.length} bundles` : 'Bundles, newest first', {
  titles: ['Bundle', 'Size', 'Pushed', 'By', 'Live on'],
  rows: bundles
    .slice(0, listed)
    .map((bundle) => [
      bundleText(context, bundle),
      prettyBytes(bundle.size),
      timeText(bundle.createdAt),
      foreign(bundle.createdBy),
      foreign(deployments.targetsServing(bundle).join(', ') || '–'),
    ]),
  empty: 'All bundles of this project were deleted.',
})}
    </section>
    <section id="deployments" data-live>
      <h2>Deployments</h2>
      ${deploymentTable(call, store.newestDeployments(listed, projectSlug))}
    </section>`;
  return pageAnswer({title: projectSlug, place: 'Projects', content});
}

/** A form to deploy one of several bundles. */
export function deployForm({context}: AdmittedCall, projectSlug: string, bundles: readonly BundleRecord[]): Html {
  const {store} = context;
  const [last] = store.newestDeployments(1, projectSlug);
  return html`<form action="${projectPath(projectSlug)}/deploy" method="post">
    <label for="deploy-bundle">Bundle</label>
    <select id="deploy-bundle" name="bundle" data-live>
      ${bundles.slice(0, listed).map(({id, message}) => html`<option value="${id}">${id}: ${message.slice(0, 60)}</option>`)}
    </select>
    <label for="deploy-target">Target</label>
    <input
      id="deploy-target"
      name="target"
      list="deploy-targets"
      value="${last?.targetSlug ?? 'staging'}"
      required
      autocomplete="off"
    />
    <datalist id="deploy-targets">
      ${store.targets(projectSlug).map((target) => html`<option value="${target}"></option>`)}
    </datalist>
    <button class="main">Deploy</button>
  </form>`;
}

/** Deploys the bundle of a form to its target. */
export async function deployBundle(call: AdmittedCall): Promise<Response> {
  const projectSlug = param(call, 'projectSlug');
  const form = await readForm(call);
  const targetSlug = form.get('target')?.trim() ?? '';
  const [problem] = slugProblems('target', targetSlug);
  if (problem) throw new HttpFailure(400, `The slug of the target ${problem.message}.`);
  const bundle = findBundle(call, projectSlug, Number(form.get('bundle')));
  await call.context.deployments.deploy({bundle, targetSlug, createdBy: call.user});
  return seeOther(`${projectPath(projectSlug)}?done=deploy`);
}
