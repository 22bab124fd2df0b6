import type {CommandContext} from '../command/command-context.js';
import {Interview} from '../command/prompts.js';
import {Secret} from '../settings/secret.js';
import type {Settings} from '../settings/settings.js';
import {findOtherClients, readOtherClients, type OtherClient} from './other-clients.js';

type TakeOverContext = Pick<CommandContext, 'cwd' | 'env' | 'output'>;

const source = {kind: 'flag', name: 'the other client'} as const;

/** Offers what other clients of the same service have set up, for the settings that are not set. */
export async function takeOver(questions: Interview, settings: Settings, context: TakeOverContext): Promise<Settings> {
  const other = await ask(questions, settings, context, 'address, project, target, user, key');
  if (other === undefined) return settings;
  const {origin, projectSlug, targetSlug, apiUser, apiKey} = other;
  return {
    ...settings,
    origin: settings.origin ?? (origin === undefined ? undefined : {value: origin, source}),
    projectSlug: settings.projectSlug ?? (projectSlug === undefined ? undefined : {value: projectSlug, source}),
    targetSlug: settings.targetSlug ?? (targetSlug === undefined ? undefined : {value: targetSlug, source}),
    ...(settings.apiKey === undefined ? withKey({apiUser, apiKey}) : {}),
  };
}

/** Offers the API key that another client has for the service of a login. */
export async function takeOverKey(settings: Settings, context: CommandContext): Promise<Settings> {
  const questions = new Interview(context);
  try {
    const other = await ask(questions, settings, context, 'user, key');
    return other === undefined ? settings : {...settings, ...withKey(other)};
  } finally {
    questions.close();
  }
}

/** The files and variables are only read if the user agrees. */
async function ask(
  questions: Interview,
  {origin}: Settings,
  {cwd, env, output}: TakeOverContext,
  what: string,
): Promise<OtherClient | undefined> {
  const place = {directory: cwd, env, origin: origin?.value};
  const found = await findOtherClients(place);
  if (found.length === 0) return undefined;
  const names = new Intl.ListFormat('en').format(found);
  if (!(await questions.confirm(`Use what is set up for another client in ${names} (${what})?`, true)))
    return undefined;
  const other = await readOtherClients(place);
  if (other.apiKey !== undefined) output.addSecrets([other.apiKey]);
  return other;
}

function withKey({apiUser, apiKey}: OtherClient): Pick<Settings, 'apiKey' | 'apiUser'> {
  if (apiKey === undefined) return {};
  return {
    apiKey: {value: new Secret(apiKey), source},
    ...(apiUser === undefined ? {} : {apiUser: {value: apiUser, source}}),
  };
}
