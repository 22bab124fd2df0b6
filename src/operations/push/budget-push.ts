import {capabilitiesOf} from '../../backends/call.js';
import {createError} from '../../errors/index.js';
import {commandLine} from '../../errors/suggest.js';
import {downloadContents} from '../bundle-source.js';
import {findRunning, notRunning} from '../list.js';
import {openBackend, registryOf} from '../open-backend.js';
import {warnAll, watched, type Host, type StepView} from '../steps.js';
import {budgetWarnings, checkBudget, type GrowthBase} from './budget.js';
import type {PushPlan} from './plan-push.js';

/**
 * Checks the budget of a push. Its growth is measured from what the target runs, which is downloaded for that.
 * @throws RuntimeCliError `ERR_BUDGET_EXCEEDED`; `ERR_CAPABILITY_UNSUPPORTED` if the backend cannot tell what the
 * target runs, or download it.
 */
export async function withBudget(plan: PushPlan, host: Host, view: StepView): Promise<PushPlan> {
  const {budget} = plan.options;
  if (budget === undefined) return plan;
  const {files} = plan.content.kind === 'build' ? plan.content.plan : plan.content.bundle;
  // What can be told without the server comes first.
  const local = checkBudget({...budget, growth: undefined}, files, {skipped: ''});
  const unmatched = budgetWarnings(budget, files);
  warnAll(view, unmatched);
  const warnings = [...plan.warnings, ...unmatched];
  if (budget.growth === undefined) return {...plan, budget: local, warnings};
  const report = checkBudget(budget, files, await growthBase(plan, host, view));
  for (const {skipped} of report.limits) if (skipped !== undefined) view.detail(`Growth was not checked: ${skipped}`);
  return {...plan, budget: report, warnings};
}

async function growthBase({options, selection}: PushPlan, host: Host, view: StepView): Promise<GrowthBase> {
  const {targetSlug} = options;
  if (targetSlug === undefined) return {skipped: 'there is no target'};
  const backend = registryOf(options).get(selection.backend);
  for (const capability of ['history', 'download'] as const) {
    if (capabilitiesOf(backend).includes(capability)) continue;
    throw createError(
      'ERR_CAPABILITY_UNSUPPORTED',
      `The ${backend.name} backend does not support "${capability}", so budget.growth cannot be checked.`,
      {
        suggestions: [
          'Remove budget.growth from mycli.config, and compare with a manifest that you keep:',
          commandLine('bundle:diff', 'release.tar.gz.json', 'build'),
        ],
        details: {backend: backend.name, capability},
      },
    );
  }
  const open = await openBackend(selection.backend, 'deploy', watched(options, view), host);
  const {bundleId, deployed} = await findRunning(open, targetSlug);
  if (bundleId === undefined && deployed) throw notRunning(open, targetSlug, deployed);
  if (bundleId === undefined) return {skipped: `nothing runs on ${targetSlug} yet`};
  const {contents} = await downloadContents({kind: 'bundle', bundleId}, selection, options, host, view);
  return {bundleId, files: contents.files};
}
