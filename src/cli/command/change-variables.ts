import type {SetVariablesOptions, SetVariablesResult} from '../../operations/target/variables.js';
import type * as Targets from '../../pipelines/targets.js';
import type {reachBackends} from '../settings/reach-backends.js';
import type {CommandContext} from './context.js';
import {dryRunFlag, flagsOf} from './flags.js';
import {guardOptions, targetWait} from './operation-options.js';

export const variableFlags = {...flagsOf('connection', 'wait', 'rateLimit', 'events'), ...dryRunFlag};

type Reached = Awaited<ReturnType<typeof reachBackends<'projectSlug' | 'targetSlug'>>>;

export async function changeVariables(
  {setVariables}: Pick<typeof Targets, 'setVariables'>,
  change: Pick<SetVariablesOptions, 'set' | 'unset' | 'dryRun'>,
  {settings, options, host}: Reached,
  context: CommandContext,
): Promise<SetVariablesResult> {
  const {renderChangedVariables} = await import('../output/targets.js');
  const wait = targetWait(settings, false);
  const result = await setVariables({...options, ...guardOptions(settings, context), ...wait, ...change}, host);
  return renderChangedVariables(result, {waited: wait.wait}, context.output);
}
