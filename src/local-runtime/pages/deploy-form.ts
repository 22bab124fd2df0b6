import {markup, shortened, type Html} from '../../html/html.js';
import {slugProblems} from '../../settings/option-problems.js';
import {HttpFailure} from '../answer.js';
import {param, type AdmittedCall, type RuntimeContext} from '../context.js';
import {findBundle} from '../protocols/requested-records.js';
import type {BundleRecord} from '../store/records.js';
import {listed, maskOf, projectPath} from './elements.js';
import {readForm, seeOther} from './page-frame.js';

/** What a form about a project needs. */
interface ProjectForm {
  readonly context: RuntimeContext;
  readonly projectSlug: string;
}

/** A form to deploy one of several bundles, or the only one. */
export function deployForm({context, projectSlug}: ProjectForm, bundles: readonly BundleRecord[]): Html {
  const mask = maskOf(context);
  const targets = context.store.targets(projectSlug);
  const [only, ...others] = bundles;
  const [newest] = context.store.newestDeployments(1, projectSlug);
  return markup`<form class="row" action="${projectPath(projectSlug)}/deploy" method="post">
    ${
      only !== undefined && others.length === 0
        ? markup`<input type="hidden" name="bundle" value="${String(only.id)}" />`
        : markup`<div class="field long">
            <label for="deploy-bundle">Bundle</label>
            <select id="deploy-bundle" name="bundle">
              ${bundles.slice(0, listed).map(
                ({id, message}) =>
                  markup`<option id="deploy-bundle-${String(id)}" value="${String(id)}">
                      ${String(id)}: ${shortened(mask(message), 60)}
                    </option>`,
              )}
            </select>
          </div>`
    }
    <div class="field">
      <label for="deploy-target">Target</label>
      <input
        id="deploy-target"
        name="target"
        list="deploy-targets"
        value="${newest?.targetSlug ?? 'staging'}"
        required
        autocomplete="off"
        autocapitalize="none"
        spellcheck="false"
      />
      <datalist id="deploy-targets">
        ${targets.slice(0, listed).map((target) => markup`<option value="${target}"></option>`)}
      </datalist>
    </div>
    <button class="main">Deploy</button>
  </form>`;
}

/** A button that deploys the bundle that ran before the one that is live. Undefined if there is none. */
export function rollbackForm({context, projectSlug}: ProjectForm, targetSlug: string): Html | undefined {
  const previous = previousBundle(context, projectSlug, targetSlug);
  if (previous === undefined) return undefined;
  return markup`<form class="inline" action="${projectPath(projectSlug)}/deploy" method="post">
    <input type="hidden" name="bundle" value="${String(previous)}" />
    <input type="hidden" name="target" value="${targetSlug}" />
    <button aria-label="Roll ${targetSlug} back to bundle ${String(previous)}">
      Roll back to bundle ${String(previous)}
    </button>
  </form>`;
}

/** The bundle that a target served before the current one. */
function previousBundle(
  {store, deployments}: RuntimeContext,
  projectSlug: string,
  targetSlug: string,
): number | undefined {
  const current = deployments.current(projectSlug, targetSlug);
  return store
    .deployments(projectSlug, targetSlug)
    .find(
      ({number, bundleId, outcome}) =>
        current !== undefined &&
        number < current.number &&
        bundleId !== current.bundleId &&
        outcome === 'finished' &&
        store.bundle(projectSlug, bundleId) !== undefined,
    )?.bundleId;
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
  await deployments.exclusively(projectSlug, targetSlug, () =>
    deployments.start({bundle, targetSlug, createdBy: call.user, route: 'deploy'}),
  );
  return seeOther(`${projectPath(projectSlug)}?done=deploy`);
}
