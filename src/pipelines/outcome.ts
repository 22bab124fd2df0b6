import type {BundleId, WriteOutcome} from '../backends/contract.js';
import {amendError, createError, isRuntimeCliError, type RuntimeCliError} from '../errors/index.js';
import {advises, checkBeforeRetrying, resumesUpload, type Suggestion} from '../errors/suggestion.js';
import {describeDeletion} from '../operations/delete-bundles.js';
import {deploymentBefore, provesFailure} from '../operations/deploy/rollback-bundle.js';
import {deploymentName} from '../operations/deploy/wait-for-deployment.js';
import {asClause, asSentence} from '../text/sentence.js';
import {urlOf, type Change, type Ledger, type Rollback} from './ledger.js';

// How a failed or interrupted run is reported: what happened, what may have happened, what to do.

/** What a step adds to an error. */
interface Telling {
  /** What had happened, and what may have: before the words of a failure, after those of an interruption. */
  readonly state?: string | undefined;
  /** How to find out. */
  readonly look?: readonly Suggestion[] | undefined;
  readonly advice?: readonly Suggestion[] | undefined;
}

interface Tellings {
  readonly interrupted?: (ledger: Ledger) => Telling;
  readonly failed?: (ledger: Ledger, error: RuntimeCliError) => Telling;
}

/** Of a step that makes a change, if there is nothing more to say of it. */
const tellingsOfChange: Tellings = {
  interrupted: (ledger) =>
    stopped(ledger, 'Nothing was changed.', `Target ${targetOf(ledger)} may have been changed.`, lookForChange),
  failed: (ledger) => unclear(ledger, undefined, lookForChange),
};

/** By the names of steps. As long as something is `sent`, that may have been carried out. */
const tellings: Readonly<Record<string, Tellings>> = {
  upload: {
    interrupted(ledger) {
      const after = `The bundle may have been uploaded${withDeployment(ledger)}.`;
      return stopped(ledger, 'No bundle was created.', after, lookForBundle);
    },
    failed: lostUpload,
  },
  deploy: {
    interrupted(ledger) {
      if (ledger.deployment !== undefined) return deploymentContinues(ledger);
      if (!mayBeDone(ledger))
        return {state: sentences(bundleSent(ledger), 'Nothing was deployed.'), advice: deployLater(ledger)};
      const started = `The deployment to ${targetOf(ledger)} may have started.`;
      return {state: sentences(bundleSent(ledger), started), look: lookForDeployment(ledger)};
    },
    failed(ledger, error) {
      if (ledger.deployment !== undefined) return deploymentAccepted(ledger, error);
      const look = ledger.sent && lookForDeployment(ledger);
      const bundle = bundleSent(ledger);
      if (bundle === undefined) {
        const isGone = ledger.rolledBackFrom !== undefined && error.code === 'ERR_BUNDLE_UNKNOWN';
        const other = 'To go back to another bundle, pass --to ID.';
        return {look, advice: isGone ? [other] : []};
      }
      const state = ledger.sent
        ? `${bundle}, and its deployment to ${targetOf(ledger)} may have started:`
        : `${bundle}, but deploying it to ${targetOf(ledger)} failed:`;
      // What a guard has refused, it would refuse again, and has said what to do.
      return {state, look, advice: error.code === 'ERR_GUARD_REFUSED' ? [] : deployLater(ledger)};
    },
  },
  wait: {
    interrupted(ledger) {
      if (ledger.deployment !== undefined) return deploymentContinues(ledger);
      const state = `The service continues with target ${targetOf(ledger)}.`;
      return {state, look: lookForTarget(ledger), advice: applyLater(ledger)};
    },
    failed: (ledger, error) =>
      ledger.deployment === undefined ? {advice: applyLater(ledger)} : deploymentAccepted(ledger, error),
  },
  check: {
    interrupted: (ledger) => ({state: `${bundleDeployed(ledger)}, but has not passed its check yet.`}),
  },
  invalidate: {
    interrupted(ledger) {
      const cache = `The cache of ${targetOf(ledger)} ${mayBeDone(ledger) ? 'may have been' : 'was not'} cleared.`;
      return {state: sentences(ledger.deployment && bundleDeployed(ledger), cache)};
    },
  },
  create: {
    interrupted: (ledger) =>
      stopped(ledger, 'No target was created.', `Target ${targetOf(ledger)} may have been created.`, lookForTarget),
    failed: (ledger) =>
      unclear(ledger, `Target ${targetOf(ledger)} may have been created, but is not listed:`, lookForTarget),
  },
  apply: {
    interrupted(ledger) {
      const applied = mayBeDone(ledger) ? 'may have been applied in part' : 'was not applied';
      return {state: `The configuration of ${targetOf(ledger)} ${applied}.`, look: lookForRest(ledger)};
    },
    failed: (ledger) => (ledger.changes.length === 0 ? {} : {look: lookForRest(ledger)}),
  },
  delete: {
    interrupted: (ledger) =>
      ledger.changes.at(-1)?.planned.operation === 'delete'
        ? stopped(ledger, 'No bundle was deleted.', 'Bundles may have been deleted.', lookForBundle)
        : stopped(ledger, 'Nothing was deleted.', `Target ${targetOf(ledger)} may have been deleted.`, lookForTarget),
    failed: (ledger) =>
      ledger.changes.at(-1)?.planned.operation === 'delete'
        ? {}
        : unclear(ledger, `Target ${targetOf(ledger)} may still be deleted:`, lookForTarget),
  },
};

type Look = (ledger: Ledger) => readonly Suggestion[];

/** What an interruption leaves behind, before a request was sent, and after. */
function stopped(ledger: Ledger, before: string, after: string, look: Look): Telling {
  return mayBeDone(ledger) ? {state: after, look: look(ledger)} : {state: before};
}

/** Whether the step may have changed something. */
function mayBeDone({sent, changedIn, failure, step}: Ledger): boolean {
  return sent !== undefined || (changedIn !== undefined && changedIn === (failure?.step ?? step?.name));
}

/** What a request may have done that got no clear answer. */
function unclear(ledger: Ledger, state: string | undefined, look: Look): Telling {
  return ledger.sent === undefined ? {} : {state, look: look(ledger)};
}

/** Whether the upload deploys, too. */
function isDeploying({open, built, release}: Ledger): boolean {
  if (built === undefined || release === undefined) return false;
  return open?.backend.deploysOnUpload?.includes(built.bundle.format) === true;
}

/** What an upload that deploys may have done as well. */
function withDeployment(ledger: Ledger): string {
  return isDeploying(ledger) ? `, and its deployment to ${targetOf(ledger)} may have started` : '';
}

/** `Bundle 42 was uploaded`. Undefined for a bundle that the service had already. */
function bundleSent({bundle, bundleId, uploaded}: Ledger): string | undefined {
  return bundle && `Bundle ${String(bundleId)} ${uploaded === undefined ? 'is unchanged' : 'was uploaded'}`;
}

function bundleDeployed(ledger: Ledger): string {
  return `Bundle ${String(ledger.bundleId)} is deployed to ${targetOf(ledger)}`;
}

function deploymentContinues(ledger: Ledger): Telling {
  const {deployment = {}} = ledger;
  const state = sentences(bundleSent(ledger), `${deploymentName(deployment)} continues.`);
  return {state, look: lookForDeployment(ledger, 'To check on it, run:')};
}

function deploymentAccepted(ledger: Ledger, error: RuntimeCliError): Telling {
  const state = sentences(bundleSent(ledger));
  if (!provesFailure(error)) return {state, look: lookForDeployment(ledger, 'To check on it, run:')};
  return {state, look: ledger.bundle && lookForDeployment(ledger)};
}

function lookForDeployment(ledger: Ledger, what = 'Check before you deploy it again:'): readonly Suggestion[] {
  if (ledger.open?.backend.listDeployments === undefined) return [];
  return [what, [{run: ['bundle:history', ...place(ledger)]}]];
}

function deployLater(ledger: Ledger): readonly Suggestion[] {
  if (ledger.bundle === undefined) return [];
  const run = ['bundle:deploy', String(ledger.bundleId), ...place(ledger)];
  return ['To deploy it without another upload, run:', [{run, again: true}]];
}

function lookForBundle(ledger: Ledger): readonly Suggestion[] {
  const history = isDeploying(ledger) ? [[{run: ['bundle:history', ...place(ledger)]}]] : [];
  return ['Check before you try again:', [{run: ['bundle:list', ...flags(ledger)]}], ...history];
}

function lookForTarget(ledger: Ledger): readonly Suggestion[] {
  return [['Look for it before you try again: ', {run: ['target:list', ...flags(ledger)]}]];
}

function flags({open}: Ledger): readonly string[] {
  return open?.flags() ?? [];
}

/** A target without a configuration has no differences from it: a copy of another one. */
function lookForRest(ledger: Ledger): readonly Suggestion[] {
  const [advice, command] =
    ledger.isDescribed === false
      ? ['To create it again, delete it first: ', 'target:delete']
      : ['To see what is left to change, run: ', 'target:diff'];
  return [[advice, {run: [command, targetOf(ledger), ...flags(ledger)]}]];
}

function applyLater(ledger: Ledger): readonly Suggestion[] {
  // What it lacks is known once its configuration was applied.
  if (ledger.isDescribed !== true || ledger.target?.missing !== undefined) return [];
  return [['Once it is ready, apply its configuration: ', {run: ['target:apply', targetOf(ledger), ...flags(ledger)]}]];
}

/** `Target qa was created.`, where that is not what the step is about. */
function targetMade({target, deployment}: Ledger, step: string): string | undefined {
  const isOfStep = step === 'create' || (step === 'wait' && deployment === undefined);
  return target?.created === true && !isOfStep ? `Target ${target.targetSlug} was created.` : undefined;
}

function lookForChange(ledger: Ledger): readonly Suggestion[] {
  if (ledger.changes.at(-1)?.planned.operation !== 'set-variables') return lookForTarget(ledger);
  return [['Check the variables before you try again: ', {run: ['env:list', ...place(ledger)]}]];
}

/** An upload whose answer was lost, if it was looked for afterwards. */
function lostUpload(ledger: Ledger): Telling {
  const {lost, open, release} = ledger;
  if (lost === undefined) return {};
  const {bundleId} = lost;
  if (bundleId === undefined)
    return {look: ['mycli looked for the bundle, but has not found it yet.', ...lookForBundle(ledger)]};
  const is = `It is probably bundle ${String(bundleId)}, which is new and has the same message${withDeployment(ledger)}.`;
  if (isDeploying(ledger)) return {look: [is, ...lookForDeployment(ledger)]};
  const run = ['bundle:deploy', bundleId, ...(open?.flags(release?.targetSlug ?? 'SLUG') ?? [])];
  return {look: [is, ['To deploy it: ', {run, again: true}]]};
}

/** The target that is deployed to or changed. Built-in backends have it in the reference of a deployment. */
function slugOf({release, target = release, changes, deployment}: Ledger): string | undefined {
  const known = target?.targetSlug ?? changes.at(-1)?.planned.targetSlug ?? deployment?.['targetSlug'];
  return typeof known === 'string' ? known : undefined;
}

function targetOf(ledger: Ledger): string {
  return String(slugOf(ledger));
}

function place(ledger: Ledger): readonly string[] {
  return ledger.open?.flags(slugOf(ledger)) ?? [];
}

function sentences(...facts: readonly (string | undefined)[]): string | undefined {
  const told = facts.flatMap((fact) => (fact === undefined ? [] : asSentence(fact)));
  return told.length === 0 ? undefined : told.join(' ');
}

export function explain(error: unknown, ledger: Ledger): unknown {
  const {rollback, failure, step} = ledger;
  if (failure === undefined) return explainStep(error, ledger, step?.name);
  const failed = explainStep(failure.error, ledger, failure.step);
  if (rollback === undefined || !isRuntimeCliError(failed)) return failed;
  return afterRollback(failed, rollback.error ?? (error === failure.error ? undefined : error), rollback, ledger);
}

function explainStep(thrown: unknown, ledger: Ledger, step = ''): unknown {
  const {open, deletion, lost, uploaded, deployment, changes} = ledger;
  const made = targetMade(ledger, step);
  const isDone = uploaded !== undefined || deployment !== undefined || made !== undefined;
  // The reason of a caller who aborts stays as it is, unless there is something to tell.
  const error =
    isDone && open?.signal.aborted === true && thrown === open.signal.reason && !isRuntimeCliError(thrown)
      ? createError('ERR_INTERRUPTED', 'The call was aborted.', {cause: thrown})
      : thrown;
  if (!isRuntimeCliError(error)) return error;
  const isInterrupted = error.code === 'ERR_INTERRUPTED';
  if (error === open?.signal.reason && !isInterrupted) return error;
  if (deletion !== undefined) return amendError(error, describeDeletion(deletion));
  const {interrupted, failed} = tellings[step] ?? (changes.at(-1)?.step === step ? tellingsOfChange : {});
  const {state, look = [], advice = []} = (isInterrupted ? interrupted?.(ledger) : failed?.(ledger, error)) ?? {};
  const told = isInterrupted ? [error.message, made, state] : [made, state, error.message];
  const left = leftAlone(error, ledger, step);
  const message = [...told, left.state].filter((part) => part !== undefined).join(' ');
  const facts = factsOf(ledger);
  if (message === error.message && facts === undefined && look.length + advice.length === 0) return error;
  // How to look for this one is more than how to look for any. An upload that was found is complete.
  const needless = [...(look.length === 0 ? [] : [checkBeforeRetrying]), ...(lost?.bundleId ? [resumesUpload] : [])];
  const own = error.advice.filter((each) => !needless.includes(each));
  return amendError(error, {
    message,
    advice: [...own, ...look, ...advice, ...(left.advice ?? [])],
    details: {...facts, ...(lost?.bundleId !== undefined && {foundBundleId: lost.bundleId}), ...error.details},
    cause: thrown,
  });
}

/** Of a deployment that a failure was to roll back, if nothing proves that it failed: nobody tried. */
function leftAlone(error: RuntimeCliError, ledger: Ledger, step: string): Telling {
  const {release, bundleId, before, sent} = ledger;
  const mayHaveStarted = sent !== undefined && (step === 'deploy' || (step === 'upload' && isDeploying(ledger)));
  const mayFinish = step === 'wait' || mayHaveStarted;
  if (release?.rollsBack !== true || provesFailure(error) || (!mayFinish && step !== 'check')) return {};
  const isKnown = bundleId !== undefined && before !== undefined;
  const {live} = isKnown ? deploymentBefore({bundleId, before}, release.targetSlug) : {};
  if (!mayFinish) return {state: 'It was not rolled back.', advice: rollBackTo(live?.bundleId, ledger)};
  const state = 'The deployment was not rolled back, because it may still finish.';
  return {state, advice: rollBackTo(live?.bundleId, ledger, ' once it has ended')};
}

function rollBackTo(bundleId: BundleId | undefined, ledger: Ledger, when = ''): readonly Suggestion[] {
  if (bundleId === undefined) return [];
  return [[`To roll back${when}, run: `, {run: ['bundle:rollback', '--to', String(bundleId), ...place(ledger)]}]];
}

/** What was done, or may have been, for programs. Undefined if that is nothing. */
function factsOf(ledger: Ledger) {
  const {open, bundle, bundleId, deployment, status, check, sent, target} = ledger;
  const created = target?.created === true ? true : undefined;
  const isDone = [bundle, deployment, sent, created].some((fact) => fact !== undefined);
  if (open === undefined || !isDone) return undefined;
  const facts = {
    ...open.project,
    targetSlug: slugOf(ledger),
    created,
    bundleId,
    deployment,
    status,
    url: urlOf(ledger),
    check,
  };
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined));
}

/** The error after a deployment that was to be rolled back. `cause`: why that failed, if it was tried. */
function afterRollback(failed: RuntimeCliError, cause: unknown, rollback: Rollback, ledger: Ledger): unknown {
  if (cause !== undefined && !isRuntimeCliError(cause)) return cause;
  const {rolledBack, bundleId, deployment, isDoubtful, reason = cause?.message ?? ''} = rollback;
  const {code, message, advice} = failed;
  const outcome = {rolledBack, bundleId, deployment, ...(!rolledBack && {reason})};
  const details = {...failed.details, failure: {code, message}, rollback: outcome};
  const target = targetOf(ledger);
  const bundle = `bundle ${String(bundleId)}`;
  if (rolledBack) {
    const doubt = isDoubtful === true ? ', which also failed its check' : '';
    const now = `The target ${target} was rolled back and runs ${bundle} again${doubt}.`;
    const more = {suggestions: advice, details, cause: failed};
    return createError('ERR_ROLLED_BACK', `${asSentence(message)} ${now}`, more);
  }
  const isOpen = deployment === undefined ? ledger.sent !== undefined : cause?.code !== 'ERR_DEPLOYMENT_FAILED';
  const started = deployment === undefined ? 'may have started' : 'was accepted and may still finish';
  const state = isOpen ? `Its rollback to ${bundle} ${started}` : 'It was not rolled back';
  const look: Suggestion = [`Check what ${target} runs: `, {run: ['bundle:history', ...place(ledger)]}];
  const suggestions = [
    ...advice,
    ...(advises('bundle:history', advice) ? [] : [look]),
    ...(cause === undefined || isOpen ? [] : rollBackTo(bundleId, ledger)),
  ];
  if (cause?.code === 'ERR_INTERRUPTED')
    return amendError(cause, {message: `${cause.message} ${asSentence(message)} ${state}.`, suggestions, details});
  const told = `${asSentence(message)} ${state}: ${asClause(reason)}.`;
  return createError('ERR_NOT_ROLLED_BACK', told, {suggestions, details, cause: cause ?? failed});
}

export function factsOfChange(
  {planned}: Change,
  ledger: Ledger,
): Partial<Pick<WriteOutcome, 'bundleIds' | 'deployment' | 'status' | 'url'>> {
  const {operation} = planned;
  const {release, bundleId, deployment, status, rollback, deletion} = ledger;
  if (operation === 'delete') return deletion?.idName === 'bundleId' ? {bundleIds: deletion.deleted} : {};
  if (operation === 'rollback' && release?.operation !== 'rollback')
    return {deployment: rollback?.deployment, status: rollback?.status};
  if (operation !== 'push' && operation !== release?.operation) return {};
  return {deployment, status, url: urlOf(ledger), ...(bundleId !== undefined && {bundleIds: [bundleId]})};
}

/** How a change ended, for hooks of plugins: as the run did, unless something else is known. */
export function endOfChange({planned, ended}: Change, ledger: Ledger): NonNullable<Change['ended']> {
  const {release, rollback, uncleared, failure} = ledger;
  if (ended !== undefined) return ended;
  if (planned.operation === 'invalidate' && uncleared !== undefined) return {error: uncleared};
  const rollsBack = planned.operation === 'rollback' && release?.operation !== 'rollback';
  if (rollsBack && rollback?.error !== undefined) return {error: rollback.error};
  const hasSucceeded = rollsBack ? rollback?.rolledBack === true : failure === undefined;
  return hasSucceeded ? {} : {error: explain(failure?.error, ledger)};
}
