import {basename, join} from 'node:path';
import type {TargetConfiguration} from '../../operations/targets/options.js';
import {createError, type Suggestion} from '../../errors/index.js';
import {withLock} from '../../files/lock.js';
import {exists, readJsonFile} from '../../files/read-file.js';
import {replaceTextFile} from '../../files/write-files.js';
import {asRecord} from '../../text/json.js';
import {suggestNames, near} from '../../text/suggest.js';
import type {CommandContext} from '../command/command-context.js';
import type {Settings} from '../settings/settings.js';
import {readRedirects} from './redirects-file.js';

export async function targetConfigurationOf(settings: Settings): Promise<TargetConfiguration> {
  const {targetSettings, redirects, access, primary, prune, variables} = settings;
  const list = typeof redirects?.value === 'string' ? await readRedirects(redirects.value) : redirects?.value;
  return {
    ...(targetSettings && {settings: targetSettings.value}),
    ...(list && {redirects: list, prune: prune.value}),
    ...(access && {access: access.value}),
    ...(primary && {primary: primary.value}),
    ...(variables && {variables: variables.value}),
  };
}

/**
 * What the target is to be like. @throws RuntimeCliError if the settings say nothing about it.
 * @param readSlugs Reads the slugs of the project's targets, which may be meant, too.
 */
export async function requireConfiguration(
  settings: Settings,
  slug: string,
  {configFile}: Pick<CommandContext, 'configFile'>,
  readSlugs: () => Promise<readonly string[] | undefined>,
): Promise<TargetConfiguration> {
  const configuration = await targetConfigurationOf(settings);
  if (Object.keys(configuration).length > 0) return configuration;
  const init = {run: ['target:diff', slug, '--init']};
  const toWrite: Suggestion =
    configFile === undefined || configFile.path.endsWith('.json')
      ? ['To write its current state into the configuration, run: ', init]
      : ['Run ', init, `, and paste what it prints into ${basename(configFile.path)}.`];
  const listed = await readSlugs();
  // What the project does not have has no state to write.
  const isThere = listed?.includes(slug) ?? true;
  const others = new Set([...(configFile?.targets.keys() ?? []), ...(listed ?? [])]);
  const meant = listed !== undefined && isThere ? [] : near(slug, [...others]);
  const toCreate: Suggestion = ['To create it, run: ', {run: ['target:create', slug]}];
  const next = isThere ? [toWrite] : meant.length > 0 ? [] : [toCreate];
  const message = isThere
    ? `The configuration does not describe the target "${slug}".`
    : `Neither the configuration nor the project has a target "${slug}".`;
  throw createError(isThere ? 'ERR_USAGE' : 'ERR_REJECTED', message, {suggestions: [...suggestNames(meant), ...next]});
}

/**
 * Writes what a target is like into the configuration file, if it is JSON and has no such thing, or a new one.
 * Resolves to the file too, unless it is code: the user has to add it there.
 */
export async function writeTarget(
  configuration: TargetConfiguration,
  {targetSlug, projectSlug}: {readonly targetSlug: string; readonly projectSlug: string},
  {cwd, configFile}: Pick<CommandContext, 'cwd' | 'configFile'>,
) {
  const path = configFile?.path ?? join(cwd, 'mycli.config.json');
  if (!path.endsWith('.json')) return {configuration};
  await withLock(path, async () => {
    // Another run may have written one by now.
    const before = (await exists(path)) ? asRecord(await readJsonFile(path)) : {projectSlug};
    const isManifest = path.endsWith('package.json');
    const config = isManifest ? asRecord(before['mycli']) : before;
    const targets = asRecord(asRecord(config)['targets']);
    const own = asRecord(targets[targetSlug]);
    const taken = Object.keys(configuration).find((key) => own[key] !== undefined);
    if (taken !== undefined) {
      throw createError('ERR_USAGE', `${path} has ${taken} of ${targetSlug} already. Nothing was written.`, {
        suggestions: [['To see what differs, run: ', {run: ['target:diff', targetSlug]}]],
      });
    }
    const changed = {...config, targets: {...targets, [targetSlug]: {...own, ...configuration}}};
    const json = JSON.stringify(isManifest ? {...before, mycli: changed} : changed, undefined, 2);
    await replaceTextFile(path, `${json}\n`);
  });
  return {configuration, file: path};
}
