import {relative} from 'node:path';
import type {CommandContext} from '../command/command-context.js';
import {configIn} from '../settings/config-file.js';
import type {Settings} from '../settings/settings.js';
import {askYesNo, canAsk} from './prompts.js';
import {refuseBuildBelow, refuseRoot, refuseSources} from './wrong-folder.js';

/** Offers in a terminal to set up a project that nothing configures. Returns its settings, or those given. */
export async function offerSetup(context: CommandContext, settings: Settings, build?: string): Promise<Settings> {
  const {cwd, output} = context;
  const isSetUp = settings.projectSlug !== undefined || (await configIn(cwd)) !== undefined;
  const {value, source} = settings.buildDirectory;
  const named = build ?? (source.kind === 'default' ? undefined : value);
  await refuseBuildBelow(settings, context, build);
  if (!isSetUp && named === undefined) await refuseRoot(cwd);
  if (isSetUp || output.json || !canAsk(context)) return settings;
  if (named !== undefined) await refuseSources(named, settings, context);
  if (!(await askYesNo('This project is not set up. Set it up now?', true, context))) return settings;
  const {planProject, writeProject} = await import('./plan-project.js');
  const plan = await planProject(context, settings, {asks: true, verify: true, mode: 'ask'});
  const file = await writeProject(context, plan, false);
  output.info(`Wrote ${relative(cwd, file)}.`);
  return context.loadSettings();
}
