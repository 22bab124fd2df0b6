import {relative} from 'node:path';
import type {CommandContext} from '../command/command-context.js';
import {canAsk, Interview} from './prompts.js';
import {trustAddresses} from './login.js';
import {configIn} from '../settings/config-file.js';
import type {Settings} from '../settings/settings.js';
import {writeConfig} from './new-config.js';
import {planProject} from './plan-project.js';

/**
 * Offers to set up a project that nothing configures, in a terminal. Returns its settings, or those that were given.
 * @param checkBackend Throws when there is no such backend.
 * @throws RuntimeCliError of `mycli init`.
 */
export async function offerSetup(
  context: CommandContext,
  settings: Settings,
  checkBackend: (name: string) => Promise<void>,
): Promise<Settings> {
  const {cwd, output} = context;
  const isSetUp = settings.projectSlug !== undefined || (await configIn(cwd)) !== undefined;
  if (isSetUp || output.json || !canAsk(context)) return settings;
  const questions = new Interview(context);
  const agrees = await questions
    .confirm('This project is not set up. Set it up now?', true)
    .finally(() => questions.close());
  if (!agrees) return settings;
  const plan = await planProject({context, settings, asks: true, takesDefaults: false, verify: true, checkBackend});
  const file = await writeConfig(cwd, plan.config, false);
  await trustAddresses(context, plan.addresses);
  output.info(`Wrote ${relative(cwd, file)}.`);
  return context.loadSettings();
}
