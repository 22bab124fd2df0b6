import {contentText, renderBundleSections, renderDiff} from '../../html/bundle-page.js';
import {markup, shortened, type Html} from '../../html/html.js';
import {renderTable} from '../../html/page.js';
import {HttpFailure} from '../answer.js';
import {param, type AdmittedCall} from '../context.js';
import {findBundle} from '../protocols/requested-records.js';
import {siteUrlFor} from '../protocols/site-address.js';
import {deploymentState} from '../store/deployments.js';
import type {BundleRecord, DeploymentRecord} from '../store/records.js';
import {
  bundleLink,
  bytesText,
  maskOf,
  foreign,
  listed,
  moreText,
  projectPath,
  stateText,
  timeText,
} from './elements.js';
import {deployForm, rollbackForm} from './deploy-form.js';
import {requestTable} from './request-pages.js';
import {pageAnswer} from './page-frame.js';

/** How many of the newest things the first page shows. */
const newest = 8;

/** The first page: what runs where, and what happened last. */
export function showOverview(call: AdmittedCall): Response {
  const {context, origin} = call;
  const projects = context.store.projects();
  const deployments = context.store.newestDeployments(newest);
  const requests = context.log.requests.slice(0, newest);
  const content = markup`<div id="overview" data-live>
    ${
      projects.length === 0
        ? welcome(origin)
        : markup`<h2 id="projects-title">Projects</h2>
            <ul class="cards" aria-labelledby="projects-title">
              ${projects.slice(0, listed).map((slug) => projectCard(slug, call))}
            </ul>
            <h2>Newest deployments</h2>
            ${
              deployments.length === 0
                ? markup`<p>Nothing has been deployed yet. Open a project to deploy a bundle.</p>`
                : deploymentTable('Newest deployments of all projects', deployments, call, {hasProject: true})
            }`
    }
    ${
      requests.length === 0
        ? undefined
        : markup`<h2>Newest requests</h2>
            <div class="wire">${requestTable('Newest requests', requests, context)}</div>`
    }
  </div>`;
  return pageAnswer({
    title: 'What runs here',
    place: 'Projects',
    content,
    topics: ['bundles', 'deployments', 'requests'],
  });
}

function welcome(origin: string): Html {
  return markup`<p>Nothing has been pushed yet. In another terminal, in the folder of your application:</p>
    <ol class="steps">
      <li>
        Point mycli at this runtime: copy the <code>export</code> lines that <code>mycli runtime:start</code> has
        printed. They set the address, and an API key that this page does not show.
        <pre tabindex="0" role="region" aria-label="Variables">
export MYCLI_RUNTIME_ORIGIN=${origin}
export MYCLI_API_KEY=…</pre
        >
      </li>
      <li>
        Push what is in <code>build/</code>, and deploy it:
        <pre tabindex="0" role="region" aria-label="Command">
mycli bundle:push --project my-shop --target staging --wait</pre
        >
      </li>
    </ol>
    <p class="soft">It appears here as soon as it has arrived. No need to reload.</p>`;
}

function projectCard(projectSlug: string, call: AdmittedCall): Html {
  const {store} = call.context;
  const targets = store.targets(projectSlug);
  const bundles = store.bundles(projectSlug).length;
  return markup`<li class="card">
    <h3><a href="${projectPath(projectSlug)}"><bdi>${shortened(projectSlug, 100)}</bdi></a></h3>
    ${
      targets.length === 0
        ? markup`<p class="soft">No target yet</p>`
        : markup`<ul>
            ${targets.slice(0, 20).map((target) => targetRow(projectSlug, target, call))}
          </ul>`
    }
    <p class="soft">${String(bundles)} ${bundles === 1 ? 'bundle' : 'bundles'}</p>
  </li>`;
}

/** A target in a card: its app, and what becomes of the newest deployment. */
function targetRow(projectSlug: string, targetSlug: string, call: AdmittedCall): Html {
  return markup`<li>
    <span>${targetLink(projectSlug, targetSlug, call)}</span>
    ${newestState(projectSlug, targetSlug, call)}
    <span class="wide soft">${liveText(projectSlug, targetSlug, call)}</span>
  </li>`;
}

/** A table of deployments. */
function deploymentTable(
  caption: string,
  deployments: readonly DeploymentRecord[],
  {context}: AdmittedCall,
  {hasProject = false}: {readonly hasProject?: boolean} = {},
): Html {
  const mask = maskOf(context);
  return renderTable(
    caption,
    [
      {
        title: 'Bundle',
        cell: ({projectSlug, bundleId, message}) =>
          markup`${bundleLink(context, projectSlug, bundleId)} ${foreign(mask(message), 80)}`,
      },
      ...(hasProject
        ? [
            {
              title: 'Project',
              cell: ({projectSlug}: DeploymentRecord) =>
                markup`<a href="${projectPath(projectSlug)}">${foreign(projectSlug, 60)}</a>`,
            },
          ]
        : []),
      {title: 'Target', cell: ({targetSlug}) => foreign(targetSlug, 60)},
      {title: 'State', cell: (deployment) => stateText(deployment, context)},
      {title: 'Since', cell: (deployment) => timeText(deploymentState(deployment, context.now()).updatedAt)},
      {title: 'By', cell: ({createdBy}) => foreign(mask(createdBy), 60)},
    ],
    deployments,
  );
}

/** The page of a project: its targets, deployments and bundles. */
export function showProject(call: AdmittedCall): Response {
  const {context} = call;
  const projectSlug = param(call, 'projectSlug');
  if (!context.store.projects().includes(projectSlug)) {
    throw new HttpFailure(404, `There is no project "${projectSlug}". It is created by the first push to it.`);
  }
  const [targets, bundles] = [context.store.targets(projectSlug), context.store.bundles(projectSlug)];
  const deployments = context.store.newestDeployments(listed, projectSlug);
  const mask = maskOf(context);
  const content = markup`
    ${call.query.get('done') === 'deploy' ? markup`<p class="notice">The deployment has started.</p>` : undefined}
    <section id="targets" data-live aria-labelledby="targets-title">
      <h2 id="targets-title">Targets</h2>
      ${
        targets.length === 0
          ? markup`<p>Nothing has been deployed yet.</p>`
          : renderTable(
              'What runs where',
              [
                {title: 'Target', cell: (target) => targetLink(projectSlug, target, call)},
                {title: 'Live', cell: (target) => liveText(projectSlug, target, call)},
                {title: 'Newest deployment', cell: (target) => newestState(projectSlug, target, call)},
                {title: 'Roll back', cell: (target) => rollbackForm({context, projectSlug}, target) ?? '–'},
              ],
              targets.slice(0, listed),
            )
      }
    </section>
    ${
      bundles.length === 0
        ? undefined
        : markup`<section id="deploy" data-live aria-labelledby="deploy-title">
            <h2 id="deploy-title">Deploy a bundle</h2>
            ${deployForm({context, projectSlug}, bundles)}
          </section>`
    }
    <section id="bundles" data-live aria-labelledby="bundles-title">
      <h2 id="bundles-title">Bundles</h2>
      ${
        bundles.length === 0
          ? markup`<p>All bundles of this project were deleted.</p>`
          : renderTable(
              'Bundles, newest first',
              [
                {
                  title: 'Bundle',
                  cell: ({id, message}) =>
                    markup`${bundleLink(context, projectSlug, id)} ${foreign(mask(message), 120)}`,
                },
                {title: 'Size', isNumber: true, cell: ({size}) => bytesText(size)},
                {title: 'Pushed', cell: ({createdAt}) => timeText(createdAt)},
                {title: 'By', cell: ({createdBy}) => foreign(mask(createdBy), 60)},
                {title: 'Live on', cell: (bundle) => targetNames(context.deployments.targetsServing(bundle))},
              ],
              bundles.slice(0, listed),
            )
      }
      ${moreText(bundles.length, 'bundles')}
    </section>
    ${bundles.length < 2 ? undefined : compareForm(call, projectSlug)}
    <section id="deployments" data-live aria-labelledby="deployments-title">
      <h2 id="deployments-title">Deployments</h2>
      ${
        deployments.length === 0
          ? markup`<p>No deployments yet.</p>`
          : deploymentTable('Deployments, newest first', deployments, call)
      }
    </section>`;
  return pageAnswer({
    title: shortened(projectSlug, 100),
    place: 'Projects',
    parents: [{name: 'Projects', path: '/'}],
    content,
    topics: ['bundles', 'deployments'],
  });
}

/** The name of a target, which leads to its app. */
function targetLink(projectSlug: string, targetSlug: string, call: AdmittedCall): Html {
  const name = foreign(targetSlug, 100);
  const isLive = call.context.deployments.current(projectSlug, targetSlug) !== undefined;
  return isLive ? markup`<a href="${siteUrlFor(call, {projectSlug, targetSlug})}">${name}</a>` : name;
}

function liveText(projectSlug: string, targetSlug: string, {context}: AdmittedCall): Html | string {
  const current = context.deployments.current(projectSlug, targetSlug);
  if (current === undefined) return 'Nothing is live';
  return markup`${bundleLink(context, projectSlug, current.bundleId)} ${foreign(maskOf(context)(current.message), 80)}`;
}

function newestState(projectSlug: string, targetSlug: string, {context}: AdmittedCall): Html | string {
  const [last] = context.store.deployments(projectSlug, targetSlug);
  return last === undefined ? '–' : stateText(last, context);
}

function targetNames(names: readonly string[]): Html | string {
  return names.length === 0 ? '–' : foreign(names.join(', '), 120);
}

/** Chooses two bundles to compare: by default the newest one with the one before it. */
function compareForm({context, query}: AdmittedCall, projectSlug: string): Html {
  const bundles = context.store.bundles(projectSlug);
  const mask = maskOf(context);
  const choice = (name: string, label: string, chosen: number | undefined) =>
    markup`<div class="field">
      <label for="compare-${name}">${label}</label>
      <select id="compare-${name}" name="${name}">
        ${bundles.slice(0, listed).map(
          ({id, message}) =>
            markup`<option value="${String(id)}"${id === chosen ? markup` selected` : undefined}>
              ${String(id)}: ${shortened(mask(message), 50)}
            </option>`,
        )}
      </select>
    </div>`;
  const given = (name: string, other: number | undefined) => {
    const value = query.get(name);
    return value === null ? other : Number(value);
  };
  return markup`<section aria-labelledby="compare-title">
    <h2 id="compare-title">Compare two bundles</h2>
    <form class="row" action="${projectPath(projectSlug)}/compare" method="get">
      ${choice('from', 'Before', given('from', bundles[1]?.id))} ${choice('to', 'After', given('to', bundles[0]?.id))}
      <button>Compare</button>
    </form>
  </section>`;
}

/** The difference between two bundles. */
export async function showComparison(call: AdmittedCall): Promise<Response> {
  const {context, query} = call;
  const projectSlug = param(call, 'projectSlug');
  const bundle = (name: string) => findBundle(call, projectSlug, Number(query.get(name) ?? ''));
  const [from, to] = [bundle('from'), bundle('to')];
  const {compareContents} = await import('../../operations/compare-contents.js');
  const before = await context.reader.inspect(from);
  const after = await context.reader.inspect(to);
  const compared = ({id, format, size, sha256}: BundleRecord) => ({
    ...{name: `bundle ${String(id)}`, format, size, sha256},
  });
  const diff = {
    ...compareContents(before, after),
    ...{before: compared(from), after: compared(to), warnings: []},
  };
  const content = markup`
    <dl class="facts">
      ${[from, to].map(
        ({id, message}, at) =>
          markup`<dt>${at === 0 ? 'Before' : 'After'}</dt>
            <dd>${bundleLink(context, projectSlug, id)} ${foreign(maskOf(context)(message))}</dd>`,
      )}
    </dl>
    <section aria-labelledby="changes-title">
      <h2 id="changes-title">Changes</h2>
      ${renderDiff(diff, maskOf(context))}
    </section>
    ${compareForm(call, projectSlug)}`;
  return pageAnswer({
    title: `From bundle ${String(from.id)} to bundle ${String(to.id)}`,
    place: 'Projects',
    parents: parentsOf(projectSlug),
    content,
  });
}

/** The pages above one of a project. */
function parentsOf(projectSlug: string) {
  return [
    {name: 'Projects', path: '/'},
    {name: shortened(projectSlug, 60), path: projectPath(projectSlug)},
  ];
}

/** The page of a bundle. */
export async function showBundle(call: AdmittedCall): Promise<Response> {
  const {context} = call;
  const projectSlug = param(call, 'projectSlug');
  const bundle = findBundle(call, projectSlug, Number(param(call, 'bundleId')));
  const inspection = await context.reader.inspect(bundle);
  const mask = maskOf(context);
  const content = markup`
    <dl class="facts">
      <dt>Message</dt>
      <dd>${bundle.message === '' ? '–' : foreign(mask(bundle.message), 2048)}</dd>
      <dt>Pushed</dt>
      <dd>${timeText(bundle.createdAt)} by ${foreign(mask(bundle.createdBy), 60)}</dd>
      <dt>Live on</dt>
      <dd id="live-on" data-live>${targetNames(context.deployments.targetsServing(bundle))}</dd>
      <dt>Format</dt>
      <dd>${bundle.format}</dd>
      <dt>Archive</dt>
      <dd>${bytesText(bundle.size)}</dd>
      <dt>Content</dt>
      <dd>${contentText(inspection)}</dd>
      <dt>SHA-256</dt>
      <dd><code>${bundle.sha256}</code></dd>
    </dl>
    <section aria-labelledby="deploy-title">
      <h2 id="deploy-title">Deploy</h2>
      ${deployForm({context, projectSlug}, [bundle])}
    </section>
    ${renderBundleSections(inspection, {mask})}`;
  return pageAnswer({
    title: `Bundle ${String(bundle.id)}`,
    place: 'Projects',
    parents: parentsOf(projectSlug),
    content,
    topics: ['deployments'],
  });
}
