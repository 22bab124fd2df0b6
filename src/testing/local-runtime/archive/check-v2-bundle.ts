import {text} from 'node:stream/consumers';
import * as v from 'valibot';
import {parseJson} from '../../../errors/json.js';
import type {BundleV2MatchMode} from '../../../bundle/types.js';
import {HttpFailure} from '../http-failure.js';
import {objectOf, validate} from '../validate.js';
import {isBelow} from '../../../bundle/prebuilt/archive-layout.js';
import {checkLayout} from './archive-layout.js';
import type {ArchiveLimits} from './archive-limits.js';
import {matchFiles} from './match-files.js';
import {readArchive, type ArchiveEntry} from './read-archive.js';

const maxConfigBytes = 1024 * 1024;

const patterns = v.array(v.pipe(v.string(), v.nonEmpty(), v.maxLength(4096)));

/** What a v2 bundle's configuration file has to look like. Unknown keys at the top are fine, others are not. */
const configSchema = v.object({
  ssrOnly: patterns,
  ssrShared: patterns,
  ssrParameters: objectOf(v.unknown()),
  bundleMetadata: v.optional(
    v.strictObject({
      dependencies: v.optional(objectOf(v.string())),
      ccOverrides: v.optional(v.array(v.string())),
    }),
  ),
});

/** How a v2 bundle is to be read. */
export interface V2BundleOptions {
  readonly rootDir: string;
  readonly configPath: string;
  readonly matchMode: BundleV2MatchMode;
  readonly limits: ArchiveLimits;
}

/** What was found in a bundle. */
export interface CheckedBundle {
  readonly ssrParameters: Readonly<Record<string, unknown>>;
  /** All its files but the configuration, relative to `root`. */
  readonly files: readonly string[];
  /** Files for the patterns, relative to `root`. */
  readonly matches: {readonly ssrOnly: readonly string[]; readonly ssrShared: readonly string[]};
  readonly warnings: readonly string[];
  /** Folder of the archive that the files lie in. */
  readonly root: string;
}

/**
 * Checks a v2 archive and matches its patterns.
 * @throws HttpFailure 422 for an unsafe archive, a configuration file that is missing, there twice or wrong, and, when
 * strict, a pattern that matches no file.
 */
export async function checkV2Bundle(archive: string, options: V2BundleOptions): Promise<CheckedBundle> {
  const {rootDir: root, matchMode, limits} = options;
  const configFile = `${root}/${options.configPath}`;
  const entries: ArchiveEntry[] = [];
  const configs: string[] = [];
  await readArchive(archive, {
    limits,
    async visit(entry, content) {
      entries.push(entry);
      if (entry.path === configFile && entry.type === 'file') configs.push(await readConfig(content, configFile));
    },
  });
  const [config, second] = configs;
  if (config === undefined || second !== undefined) {
    const found = config === undefined ? 'no' : 'more than one';
    throw new HttpFailure(422, `The archive holds ${found} configuration file "${configFile}".`);
  }
  await checkLayout(entries, root);
  const {ssrOnly, ssrShared, ssrParameters} = parseConfig(config, configFile);
  const files = entries
    .filter(({path, type}) => type !== 'directory' && isBelow(path, root) && path !== configFile)
    .map(({path}) => path.slice(root.length + 1));
  const matched = await matchFiles({ssrOnly, ssrShared}, files);
  const missing = Object.entries(matched).flatMap(([key, {unmatched}]) =>
    unmatched.map((pattern) => `the pattern "${pattern}" of ${key} matches no file`),
  );
  if (matchMode === 'strict' && missing.length > 0) {
    throw new HttpFailure(422, `The bundle is refused (matchMode is strict): ${missing.join('; ')}.`);
  }
  const matches = {ssrOnly: matched.ssrOnly.files, ssrShared: matched.ssrShared.files};
  return {ssrParameters, files, matches, warnings: missing, root};
}

async function readConfig(content: AsyncIterable<Buffer>, name: string): Promise<string> {
  async function* limited(): AsyncGenerator<Buffer> {
    let size = 0;
    for await (const chunk of content) {
      size += chunk.length;
      if (size > maxConfigBytes) {
        throw new HttpFailure(422, `The configuration file "${name}" is larger than ${String(maxConfigBytes)} bytes.`);
      }
      yield chunk;
    }
  }
  return text(limited());
}

function parseConfig(content: string, name: string): v.InferOutput<typeof configSchema> {
  const what = `The configuration file "${name}"`;
  let value: unknown;
  try {
    value = parseJson(content);
  } catch {
    throw new HttpFailure(422, `${what} is not JSON.`);
  }
  return validate(configSchema, value, {status: 422, what});
}
