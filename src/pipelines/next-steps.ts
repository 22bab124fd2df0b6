import {quickLook} from '../operations/call-backend.js';
import {listedUrl} from '../operations/targets/find-targets.js';
import {canRollBack} from '../operations/deploy/rollback-bundle.js';
import {known, urlOf, type Ledger} from './ledger.js';
import {describeDuration} from './report.js';

export interface NextSteps {
  readonly canRollBack: boolean;
  readonly hasHistory: boolean;
  readonly canDeploy: boolean;
}

export interface Outcome<Result> {
  readonly result: Result;
  readonly next: NextSteps;
  /** How long it took, in words. */
  readonly took: string;
}

/** Runs a push or a deployment, and looks for what a command shows after it: with `history`, for a way back. */
export async function withNextSteps<Made extends Ledger, Result>(
  run: () => Promise<Made>,
  resultOf: (ledger: Made) => Result,
  {history}: {readonly history: boolean},
): Promise<Outcome<Result>> {
  const startedAt = performance.now();
  const ledger = await run();
  const took = describeDuration(performance.now() - startedAt);
  const {release, status} = ledger;
  const {open} = known(ledger, 'open');
  const hasHistory = open.backend.listDeployments !== undefined;
  const next = {hasHistory, canDeploy: open.backend.deploy !== undefined, canRollBack: false};
  if (release === undefined) return {took, result: resultOf(ledger), next};
  const {targetSlug} = release;
  const asks = history && status === 'finished';
  const [url, goesBack] = await Promise.all([
    urlOf(ledger) ?? ledger.listedUrl ?? quickLook(open, (once) => listedUrl(once, targetSlug)),
    asks && canRollBack(open, targetSlug, ledger.deployment),
  ]);
  ledger.url = url;
  return {took, result: resultOf(ledger), next: {...next, canRollBack: goesBack === true}};
}
