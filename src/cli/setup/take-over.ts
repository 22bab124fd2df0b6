import type {CommandContext} from '../command/command-context.js';
import {Interview} from './prompts.js';
import type {Settings} from '../settings/settings.js';
import {findOtherKeys, findOtherProject, readOtherKey, readOtherProject, type OtherKey} from './other-clients.js';

/** Offers what a project has set up for another client of the same service, for the settings that are not set. */
export async function takeOverProject(
  questions: Interview,
  settings: Settings,
  {cwd, env}: Pick<CommandContext, 'cwd' | 'env'>,
): Promise<Settings> {
  const place = {directory: cwd, env};
  const found = await findOtherProject(place);
  if (found.length === 0) return settings;
  const question = `Use the address, project and target set up for another client in ${listed(found)}?`;
  if (!(await questions.confirm(question, true))) return settings;
  const other = await readOtherProject(place);
  return {
    ...settings,
    origin: settings.origin ?? other.origin,
    projectSlug: settings.projectSlug ?? other.projectSlug,
    targetSlug: settings.targetSlug ?? other.targetSlug,
  };
}

/** Offers the API key that another client has for a service. Nothing is read unless the user agrees. */
export async function takeOverKey(origin: string, context: CommandContext): Promise<OtherKey | undefined> {
  const {cwd, env, output} = context;
  const place = {directory: cwd, env};
  const found = await findOtherKeys(origin, place);
  if (found.length === 0) return undefined;
  const questions = new Interview(context);
  const question = `Use the API key of another client in ${listed(found)} for ${origin}?`;
  const agrees = await questions.confirm(question, true).finally(() => questions.close());
  const other = agrees ? await readOtherKey(origin, place) : undefined;
  if (other !== undefined) output.addSecrets([other.apiKey]);
  return other;
}

/** The settings with the user that a key belongs to. */
export function withUser(settings: Settings, {apiUser}: OtherKey): Settings {
  if (apiUser === undefined) return settings;
  return {...settings, apiUser: {value: apiUser, source: {kind: 'flag', name: 'the other client'}}};
}

const listed = (names: readonly string[]) => new Intl.ListFormat('en', {type: 'disjunction'}).format(names);
