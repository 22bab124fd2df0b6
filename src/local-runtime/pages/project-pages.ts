import prettyBytes from 'pretty-bytes';
import {slugProblems} from '../../settings/option-problems.js';
import {HttpFailure} from '../answer.js';
import {param, type AdmittedCall} from '../context.js';
import {siteUrl} from '../sites/site-address.js';
import {deploymentState} from '../store/deployments.js';
import type {BundleRecord, DeploymentRecord} from '../store/store.js';
import {findBundle} from '../wire/requested-records.js';
import {foreign, markup, shortened, table, type Column, type Html, type HtmlValue} from './html.js';
import {notice, pageAnswer, readForm, seeOther} from './page.js';
import {bundleText, listed, newsOf, projectPath, stateText, timeText} from './parts.js';
import {requestTable} from './request-pages.js';

/** How many of the newest things the first page shows. */
const newest = 8;

/** The first page: what runs where, and what happened last. */
export function showOverview(call: AdmittedCall): Response {
  const {context} = call;
  const projects = context.store.projects();
  const requests = context.log.requests.slice(0, newest);
  const content = markup`<div id="overview" data-live>
${projects.length === 0 ? welcome(call.origin) : projectList(projects, call)}
${requests.length === 0 ? undefined : markup`<h2>Newest requests</h2>${requestTable('Newest requests', requests, context)}`}
</div>`;
  return pageAnswer({title: 'What runs here', place: 'Projects', news: newsOf(context), content});
}

function welcome(origin: string): Html {
  return markup`<p>Nothing has been pushed yet. In another terminal, in the folder of your application:</p>
<ol>
<li>Point mycli at this runtime: copy the <code>export</code> lines that <code>mycli runtime:start</code> has printed. They set
the address, and an API key that this page does not show.
<pre tabindex="0" role="region" aria-label="Variables">export MYCLI_RUNTIME_ORIGIN=${origin}
export MYCLI_API_KEY=…</pre></li>
<li>Push what is in <code>build/</code>, and deploy it:
<pre tabindex="0" role="region" aria-label="Command">mycli bundle:push --project my-shop --target staging --wait</pre></li>
</ol>
<p class="soft">It appears here as soon as it has arrived. No need to reload.</p>`;
}

function projectList(projects: readonly string[], call: AdmittedCall): Html {
  const {store} = call.context;
  const rows = projects.slice(0, listed).flatMap((project) => {
    const targets = store.targets(project).slice(0, 20);
    return (targets.length === 0 ? [undefined] : targets).map((target) => ({project, target}));
  });
  const deployments = store.newestDeployments(newest);
  const ofTarget =
    (show: (project: string, target: string, call: AdmittedCall) => HtmlValue) =>
    ({project, target}: (typeof rows)[number]) =>
      target === undefined ? '–' : show(project, target, call);
  return markup`<h2>Projects</h2>
${table(
  'What runs where',
  [
    {title: 'Project', cell: ({project}) => projectLink(project)},
    {title: 'Target', cell: ofTarget(targetLink)},
    {title: 'Newest deployment', cell: ofTarget(newestState)},
    {title: 'Live', cell: ofTarget(liveText)},
    {title: 'Bundles', isNumber: true, cell: ({project}) => store.bundles(project).length},
  ],
  rows,
)}
<h2>Newest deployments</h2>
${
  deployments.length === 0
    ? markup`<p>Nothing has been deployed yet. Open a project to deploy a bundle.</p>`
    : deploymentTable('Newest deployments of all projects', deployments, call, [
        {title: 'Project', cell: ({projectSlug}) => projectLink(projectSlug)},
      ])
}`;
}

function projectLink(projectSlug: string): Html {
  return markup`<a href="${projectPath(projectSlug)}">${foreign(projectSlug, 100)}</a>`;
}

function deploymentTable(
  caption: string,
  deployments: readonly DeploymentRecord[],
  {context}: AdmittedCall,
  more: readonly Column<DeploymentRecord>[] = [],
): Html {
  const {mask, now} = context;
  return table(
    caption,
    [
      {title: 'Bundle', cell: ({bundleId, ...deployment}) => bundleText(context, {id: bundleId, ...deployment})},
      ...more,
      {title: 'Target', cell: ({targetSlug}) => foreign(targetSlug, 60)},
      {title: 'State', cell: (deployment) => stateText(deployment, context)},
      {title: 'Since', cell: (deployment) => timeText(deploymentState(deployment, now()).updatedAt)},
      {title: 'By', cell: ({createdBy}) => foreign(mask(createdBy), 60)},
    ],
    deployments,
  );
}

/** The page of a project: its targets, deployments and bundles. */
export function showProject(call: AdmittedCall): Response {
  const {context, query} = call;
  const projectSlug = param(call, 'projectSlug');
  if (!context.store.projects().includes(projectSlug)) {
    throw new HttpFailure(404, `There is no project "${projectSlug}". It is created by the first push to it.`);
  }
  const {store, deployments, mask} = context;
  const [targets, bundles] = [store.targets(projectSlug), store.bundles(projectSlug)];
  const history = store.newestDeployments(listed, projectSlug);
  const content = markup`${query.get('done') === 'deploy' ? notice('The deployment has started.') : undefined}
<section id="targets" data-live>
<h2>Targets</h2>
${
  targets.length === 0
    ? markup`<p>Nothing has been deployed yet.</p>`
    : table(
        'What runs where',
        [
          {title: 'Target', cell: (target) => targetLink(projectSlug, target, call)},
          {title: 'Live', cell: (target) => liveText(projectSlug, target, call)},
          {title: 'Newest deployment', cell: (target) => newestState(projectSlug, target, call)},
          {title: 'Roll back', cell: (target) => rollbackForm(call, projectSlug, target)},
        ],
        targets.slice(0, listed),
      )
}
</section>
${bundles.length === 0 ? undefined : markup`<h2>Deploy a bundle</h2>${deployForm(call, projectSlug, bundles)}`}
<section id="bundles" data-live>
<h2>Bundles</h2>
${
  bundles.length === 0
    ? markup`<p>All bundles of this project were deleted.</p>`
    : table(
        bundles.length > listed ? `The newest ${listed} of ${bundles.length} bundles` : 'Bundles, newest first',
        [
          {title: 'Bundle', cell: (bundle) => bundleText(context, bundle)},
          {title: 'Size', isNumber: true, cell: ({size}) => prettyBytes(size)},
          {title: 'Pushed', cell: ({createdAt}) => timeText(createdAt)},
          {title: 'By', cell: ({createdBy}) => foreign(mask(createdBy), 60)},
          {title: 'Live on', cell: (bundle) => targetNames(deployments.targetsServing(bundle))},
        ],
        bundles.slice(0, listed),
      )
}
</section>
${bundles.length < 2 ? undefined : compareForm(call, projectSlug)}
<section id="deployments" data-live>
<h2>Deployments</h2>
${
  history.length === 0
    ? markup`<p>No deployments yet.</p>`
    : deploymentTable('Deployments, newest first', history, call)
}
</section>`;
  return pageAnswer({
    ...({title: shortened(projectSlug, 100), place: 'Projects', news: newsOf(context, projectSlug), content} as const),
    parents: [{name: 'Projects', path: '/'}],
  });
}

/** The name of a target, which leads to its app. */
function targetLink(projectSlug: string, targetSlug: string, call: AdmittedCall): Html {
  const name = foreign(targetSlug, 100);
  const isLive = call.context.deployments.current(projectSlug, targetSlug) !== undefined;
  return isLive ? markup`<a href="${siteUrl(call, {projectSlug, targetSlug})}">${name}</a>` : name;
}

function liveText(projectSlug: string, targetSlug: string, {context}: AdmittedCall): HtmlValue {
  const current = context.deployments.current(projectSlug, targetSlug);
  return current === undefined ? 'Nothing is live' : bundleText(context, {...current, id: current.bundleId});
}

function newestState(projectSlug: string, targetSlug: string, {context}: AdmittedCall): HtmlValue {
  const [last] = context.store.deployments(projectSlug, targetSlug);
  return last === undefined ? '–' : stateText(last, context);
}

/** The names of targets. */
export function targetNames(names: readonly string[]): HtmlValue {
  return names.length === 0 ? '–' : foreign(names.join(', '), 120);
}

/** A button that deploys the bundle that ran before the one that is live. */
function rollbackForm({context}: AdmittedCall, projectSlug: string, targetSlug: string): HtmlValue {
  const {store, deployments} = context;
  const current = deployments.current(projectSlug, targetSlug);
  const previous = store
    .deployments(projectSlug, targetSlug)
    .find(
      ({number, bundleId, outcome}) =>
        current !== undefined &&
        number < current.number &&
        bundleId !== current.bundleId &&
        outcome === 'finished' &&
        store.bundle(projectSlug, bundleId) !== undefined,
    );
  if (previous === undefined) return '–';
  return markup`<form action="${projectPath(projectSlug)}/deploy" method="post">
<input type="hidden" name="bundle" value="${previous.bundleId}"><input type="hidden" name="target" value="${targetSlug}">
<button aria-label="Roll ${targetSlug} back to bundle ${previous.bundleId}">Roll back to bundle ${previous.bundleId}</button>
</form>`;
}

/** A choice of a bundle, which stays up to date. */
function bundleField(
  {id, name, label}: {readonly id: string; readonly name: string; readonly label: string},
  bundles: readonly BundleRecord[],
  {mask, chosen}: {readonly mask: (text: string) => string; readonly chosen?: number | undefined},
): Html {
  const options = bundles.slice(0, listed).map(
    ({id: bundleId, message}) =>
      markup`<option value="${bundleId}"${bundleId === chosen ? markup` selected` : undefined}>${bundleId}: ${shortened(mask(message), 60)}</option>
`,
  );
  return markup`<div class="field"><label for="${id}">${label}</label>
<select id="${id}" name="${name}" data-live>${options}</select></div>`;
}

/** A form to deploy one of several bundles, or the only one. */
export function deployForm({context}: AdmittedCall, projectSlug: string, bundles: readonly BundleRecord[]): Html {
  const {store, mask} = context;
  const [only, ...others] = bundles;
  const [last] = store.newestDeployments(1, projectSlug);
  const targets = store.targets(projectSlug).slice(0, listed);
  return markup`<form class="row" action="${projectPath(projectSlug)}/deploy" method="post">
${
  only !== undefined && others.length === 0
    ? markup`<input type="hidden" name="bundle" value="${only.id}">`
    : bundleField({id: 'deploy-bundle', name: 'bundle', label: 'Bundle'}, bundles, {mask})
}
<div class="field"><label for="deploy-target">Target</label>
<input id="deploy-target" name="target" list="deploy-targets" value="${last?.targetSlug ?? 'staging'}" required autocomplete="off">
<datalist id="deploy-targets">${targets.map((target) => markup`<option value="${target}"></option>`)}</datalist></div>
<button class="main">Deploy</button>
</form>`;
}

/** Deploys the bundle of a form to its target. */
export async function deployBundle(call: AdmittedCall): Promise<Response> {
  const {deployments} = call.context;
  const projectSlug = param(call, 'projectSlug');
  const form = await readForm(call);
  const [bundleId, targetSlug] = [Number(form.get('bundle')), form.get('target')?.trim() ?? ''];
  const [problem] = slugProblems('target', targetSlug);
  if (problem) throw new HttpFailure(400, `The slug of the target ${problem.message}.`);
  const bundle = findBundle(call, projectSlug, bundleId);
  await deployments.deploy({bundle, targetSlug, createdBy: call.user});
  return seeOther(`${projectPath(projectSlug)}?done=deploy`);
}

/** Chooses two bundles to compare: by default the newest one with the one before it. */
export function compareForm({context, query}: AdmittedCall, projectSlug: string): Html {
  const bundles = context.store.bundles(projectSlug);
  const field = (name: 'from' | 'to', label: string, other: BundleRecord | undefined) =>
    bundleField({id: `compare-${name}`, name, label}, bundles, {
      mask: context.mask,
      chosen: Number(query.get(name) ?? other?.id),
    });
  return markup`<h2>Compare two bundles</h2>
<form class="row" action="${projectPath(projectSlug)}/compare" method="get">
${field('from', 'Before', bundles[1])} ${field('to', 'After', bundles[0])}
<button>Compare</button>
</form>`;
}
