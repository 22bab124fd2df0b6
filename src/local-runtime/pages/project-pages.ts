import {html} from 'hono/html';
import {newSlugProblem} from '../../backends/answers.js';
import {listFirst} from '../../text/entry-names.js';
import {variableCommands} from '../../text/suggest.js';
import {HttpFailure} from '../answer.js';
import {param, reasonOfSilence, requestedBundle, siteOf, type Call, type RuntimeContext} from '../runtime-context.js';
import {siteUrl, type SiteName} from '../sites/site-address.js';
import {deploymentState} from '../store/deployment-records.js';
import type {BundleRecord, DeploymentRecord} from '../store/store.js';
import type {Target, TargetPhase} from '../store/target-records.js';
import * as page from './page.js';

/** How many bundles or deployments a page shows. */
const listed = 50;

export function projectPath(projectSlug: string): string {
  return `${page.pagesPath}projects/${encodeURIComponent(projectSlug)}`;
}

function targetPath({projectSlug, targetSlug}: SiteName): string {
  return `${projectPath(projectSlug)}/targets/${encodeURIComponent(targetSlug)}`;
}

/** The first page: what runs where, and what happened last. */
export function showOverview(call: Call): Promise<Response> {
  const {store} = call.context;
  const projects = store.projects();
  const content = html`${page.livePart('targets', projects.length === 0 ? welcome(call.origin) : targetCards(call, projects))}
${page.liveSection('Newest deployments', deploymentTable(call, store.deployments(), 8))}`;
  return page.pageAnswer({title: 'What runs here', content});
}

function welcome(origin: string): page.Html {
  return html`<p>Nothing has been pushed yet. In another terminal, in the folder of your application:</p>
<ol>
<li>Point mycli at this runtime: copy the lines that <code>mycli runtime:start</code> has printed. They set
the address, and an API key that this page does not show.
${page.textBlock(
  'Variables',
  variableCommands([
    ['MYCLI_RUNTIME_ORIGIN', origin],
    ['MYCLI_API_KEY', 'KEY'],
  ]).join('\n'),
)}</li>
<li>Push what is in <code>build/</code>, and deploy it:
${page.textBlock('Command', 'mycli bundle:push --project my-shop --target staging --wait')}</li>
</ol>
<p>It appears here as soon as it has arrived. No need to reload.</p>`;
}

/** The targets of projects: the state of each, its app, what it serves since when, and the names of its variables. */
function targetCards(call: Call, projects: readonly string[]): page.Html {
  const cards = projects.flatMap((projectSlug) => {
    const targets = call.context.targets.list(projectSlug);
    const place = html`<a href="${projectPath(projectSlug)}">${page.foreign(projectSlug)}</a>`;
    const none = html`<li class="card"><p class="place">${place}</p><p class="soft">Nothing has been deployed yet.</p></li>`;
    return targets.length === 0 ? [none] : targets.map((target) => targetCard(call, target, place));
  });
  return html`<ul class="cards">${cards}</ul>`;
}

function targetCard(call: Call, target: Target, place: page.Html): page.Html {
  const {context} = call;
  const {targetSlug, status} = target;
  const current = context.deployments.current(target);
  const [newest] = context.store.deployments(target);
  const url = siteUrl(call, target);
  const link = html`<p class="address"><a href="${url}">${page.foreign(url.replaceAll(/^http:\/\/|\/$/g, ''))}</a></p>`;
  const next = newest?.number === current?.number ? undefined : newest;
  const shown = current ?? newest;
  const variables = Object.keys(target.variables);
  return html`<li class="card">
<p class="place"><span>${place} / <a href="${targetPath(target)}"><strong>${page.foreign(targetSlug)}</strong></a></span>${shown ? stateText(shown, context) : (targetStates[status] ?? html`–`)}</p>
${current ? html`${link}${deploymentLine(current, context)}` : html`<p class="soft">Nothing is live.</p>`}
${next && html`<div class="next">${current && stateText(next, context)}${deploymentLine(next, context)}</div>`}
${variables.length > 0 && html`<p class="soft next">Variables: ${page.foreign(variables.join(', '))}</p>`}
${configurationLines(target).map((line) => html`<p class="soft next">${page.foreign(line)}</p>`)}
</li>`;
}

/** What is set for a target besides what every target has, its redirects, and whether it is shut. */
function configurationLines({settings, redirects, access, primary}: Target): readonly string[] {
  const {proxies = [], ...others} = settings;
  const set = Object.entries(others).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  const moved = listFirst(redirects, ', ', ({from, to}) => `${from} → ${to}`, listed);
  const passed = (proxies as readonly {readonly path: string; readonly host: string}[]).map(
    ({path, host}) => `${path} → ${host}`,
  );
  return [
    ...(primary ? ['The primary target of the project.'] : []),
    ...(set.length > 0 ? [`Settings: ${set.join(', ')}`] : []),
    ...(passed.length > 0 ? [`Proxies (only a hosted service forwards requests): ${passed.join(', ')}`] : []),
    ...(redirects.length > 0 ? [`Redirects: ${moved}`] : []),
    ...(access.length > 0 ? ['Protected: visitors need an access header.'] : []),
  ];
}

function deploymentLine(deployment: DeploymentRecord, context: RuntimeContext): page.Html {
  const {updatedAt} = deploymentState(deployment, context.now());
  return html`<p>${bundleText(context, {...deployment, id: deployment.bundleId})}</p>
<p class="soft">${page.ageText(updatedAt, context.now())} by ${page.foreign(deployment.createdBy)}</p>`;
}

/** The states of a target that nothing was deployed to. */
const targetStates: Readonly<Partial<Record<TargetPhase, page.Html>>> = {
  creating: html`<span class="state in_progress">Creating</span>`,
  'create-failed': html`<span class="state failed">Failed</span>`,
  deleting: html`<span class="state in_progress">Deleting</span>`,
};

function deploymentTable({context}: Call, deployments: readonly DeploymentRecord[], longest = listed): page.Html {
  const newest = deployments.slice(0, longest);
  const table = page.table('Deployments, newest first', {
    columns: ['Bundle', 'Project', 'Target', 'State', 'Since', 'By', 'Roll back'],
    rows: newest.map((deployment) => [
      bundleText(context, {...deployment, id: deployment.bundleId}),
      page.foreign(deployment.projectSlug),
      page.foreign(deployment.targetSlug),
      stateText(deployment, context),
      page.timeText(deploymentState(deployment, context.now()).updatedAt),
      page.foreign(deployment.createdBy),
      rollbackForm(deployment, context) ?? '–',
    ]),
    empty: 'Nothing has been deployed yet.',
  });
  return html`${table}${deployments.length > longest && html`<p>The newest ${longest} of ${deployments.length}.</p>`}`;
}

function rollbackForm(deployment: DeploymentRecord, context: RuntimeContext): page.Html | undefined {
  const {projectSlug, bundleId, targetSlug} = deployment;
  const isLive = context.deployments.current(deployment)?.bundleId === bundleId;
  const hasFinished = deploymentState(deployment, context.now()).status === 'finished';
  if (isLive || !hasFinished || context.store.bundle(projectSlug, bundleId) === undefined) return undefined;
  const button = html`<button aria-label="Roll back ${targetSlug} to bundle ${bundleId}">Roll back</button>`;
  return html`<details id="deployment-${deployment.number}"><summary aria-label="Roll back to this…: bundle ${bundleId} on ${targetSlug}">Roll back to this…</summary>
<p>${page.foreign(targetSlug)} then serves bundle ${bundleId}.</p>${deployButton(deployment, bundleId, button)}</details>`;
}

function deployButton({projectSlug, targetSlug}: SiteName, bundleId: number, button: page.Html): page.Html {
  return html`<form action="${projectPath(projectSlug)}/deploy" method="post">
<input type="hidden" name="bundle" value="${bundleId}"><input type="hidden" name="target" value="${targetSlug}">${button}</form>`;
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
  const current = deployments.current(deployment);
  if (current?.number === deployment.number) return html`<span class="state live">Live</span>`;
  const progress = status === 'in_progress' ? ` ${percentage}%` : '';
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
  const filter = query.get('filter')?.trim() ?? '';
  const found = bundles.filter(({id, message}) =>
    `bundle ${id} ${message}`.toLowerCase().includes(filter.toLowerCase()),
  );
  const lastPage = Math.ceil(found.length / listed) - 1;
  const start = listed * Math.max(0, Math.min(Math.floor(Number(query.get('page')) || 0), lastPage));
  const shown = found.slice(start, start + listed);
  const newest = page.table('Bundles, newest first', {
    columns: ['Bundle', 'Size', 'Pushed', 'By', 'Live on'],
    rows: shown.map((bundle) => [
      bundleText(context, bundle),
      page.sizeText(bundle.size),
      page.timeText(bundle.createdAt),
      page.foreign(bundle.createdBy),
      page.foreign(deployments.targetsServing(bundle).join(', ') || '–'),
    ]),
    empty: filter === '' ? 'There are no bundles here.' : 'No bundle matches the filter.',
  });
  const turn = (text: string, at: number) => {
    const search = new URLSearchParams({filter, page: String(at / listed)}).toString();
    return at >= 0 && at < found.length && html`<a href="?${search}">${text}</a> `;
  };
  const content = html`${query.get('done') === 'delete' && page.notice('The bundle was deleted.')}
${page.liveSection('Targets', targetCards(call, [projectSlug]))}
${bundles.length > 0 && html`<h2>Deploy a bundle</h2>${deployForm(call, projectSlug, bundles)}`}
<h2>Bundles</h2>
${bundles.length > listed && html`<form action="${projectPath(projectSlug)}"><label for="filter">Filter bundles</label><input id="filter" name="filter" value="${filter}"><button>Filter</button></form>`}
${page.livePart('bundles', html`${newest}${found.length > listed && html`<p>${start + 1} to ${start + shown.length} of ${found.length}. ${turn('Newer', start - listed)}${turn('Older', start + listed)}</p>`}`)}
${page.liveSection('Deployments', deploymentTable(call, store.deployments({projectSlug})))}
${page.liveSection('Invalidations', invalidationTable(call, projectSlug))}`;
  return page.pageAnswer({title: projectSlug, content});
}

export async function showTarget(call: Call): Promise<Response> {
  const {store, targets, logs} = call.context;
  const site = siteOf(call);
  const {projectSlug, targetSlug} = site;
  const target = targets.list(projectSlug).find((one) => one.targetSlug === targetSlug);
  if (target === undefined) throw new HttpFailure(404, `The project "${projectSlug}" has no target "${targetSlug}".`);
  const place = html`<a href="${projectPath(projectSlug)}">${page.foreign(projectSlug)}</a>`;
  const lines = logs.last(site).map((line) => line.replace(/^(\S+)\t\t(\S+)\t/, '$1 $2 '));
  const none = (await reasonOfSilence(call.context, site)) ?? 'Nothing was logged yet.';
  const content = html`${call.query.get('done') === 'deploy' && page.notice('The deployment has started.')}
${page.livePart('target', html`<ul class="cards">${targetCard(call, target, place)}</ul>`)}
${page.liveSection('Log', lines.length === 0 ? html`<p>${none}</p>` : page.textBlock('Log', lines.join('\n')))}
${page.liveSection('Deployments', deploymentTable(call, store.deployments(site)))}
${page.liveSection('Invalidations', invalidationTable(call, projectSlug, [target]))}`;
  return page.pageAnswer({title: targetSlug, content});
}

function invalidationTable(
  {context: {targets}}: Call,
  projectSlug: string,
  shown: readonly Target[] = targets.list(projectSlug),
): page.Html {
  const rows = shown.flatMap(({targetSlug, invalidations}) =>
    invalidations.map((invalidation) => ({...invalidation, targetSlug})),
  );
  return page.table('Invalidations of the cache, newest first', {
    columns: ['Pattern', 'Target', 'When', 'By'],
    rows: rows
      .toSorted((a, b) => (a.createdAt < b.createdAt ? 1 : -1))
      .map(({pattern, targetSlug, createdAt, createdBy}) => [
        page.foreign(pattern),
        page.foreign(targetSlug),
        page.timeText(createdAt),
        page.foreign(createdBy),
      ]),
    empty: 'No cache was cleared. Run mycli target:invalidate to clear one.',
  });
}

export function deployForm({context: {store}}: Call, projectSlug: string, bundles: readonly BundleRecord[]): page.Html {
  const [last] = store.deployments({projectSlug});
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

export async function deployFromPage(call: Call): Promise<Response> {
  const projectSlug = param(call, 'projectSlug');
  const form = await page.readForm(call);
  const targetSlug = form.get('target')?.trim() ?? '';
  const bundle = requestedBundle(call, Number(form.get('bundle')));
  const site = {projectSlug, targetSlug};
  if (call.context.targets.get(site) === undefined) {
    const problem = newSlugProblem(targetSlug);
    if (problem !== undefined) throw new HttpFailure(400, problem);
    if (!form.has('create')) return askToCreate(site, bundle.id);
  }
  await call.context.deployments.deploy(site, {bundle, createdBy: call.user});
  return page.seeOther(`${targetPath(site)}?done=deploy`);
}

function askToCreate(site: SiteName, bundleId: number): Promise<Response> {
  const {projectSlug, targetSlug} = site;
  const button = html`<button class="main" name="create" value="yes">Create ${targetSlug} and deploy bundle ${bundleId}</button>`;
  const content = html`<p>${page.foreign(projectSlug)} has no target called ${page.foreign(targetSlug)}.
<a href="${projectPath(projectSlug)}">Choose another one</a>, or create it:</p>
${deployButton(site, bundleId, button)}`;
  return page.pageAnswer({title: 'New target', content});
}
