import type {ArchiveInspection, PatternMatches} from '../../operations/inspect-bundle.js';
import type {JsonDocument} from '../command/command-context.js';
import type {Body, BundleInspectDocument} from '../output/documents.js';
import type {Output} from '../output/output.js';
import {renderTable, type Column} from './table.js';

/** The columns of `bundle:inspect`. */
export const fileColumns: readonly Column<ArchiveInspection['files'][number]>[] = [
  {name: 'category', value: ({category}) => category},
  {name: 'size', value: ({size}) => size},
  {name: 'path', value: ({path, linkTarget}) => (linkTarget === undefined ? path : `${path} -> ${linkTarget}`)},
];

/** Shows what an archive holds, and gives the document of `--json`. */
export function renderInspection(
  inspection: ArchiveInspection,
  columns: typeof fileColumns,
  output: Output,
): JsonDocument {
  const {format, size, sha256, rootDir, configPath, config, matches, files, problems} = inspection;
  output.result(`format   ${format}`);
  output.result(`size     ${String(size)}`);
  output.result(`sha256   ${sha256}`);
  if (rootDir !== undefined) output.result(`root     ${rootDir}`);
  if (configPath !== undefined) output.result(`config   ${configPath}`);
  if (config !== undefined) {
    for (const line of JSON.stringify(config, undefined, 2).split('\n')) output.result(`  ${line}`);
  }
  for (const line of [
    ...describeMatches('ssrOnly', matches.ssrOnly),
    ...describeMatches('ssrShared', matches.ssrShared),
  ]) {
    output.result(line);
  }
  output.result('');
  for (const line of renderTable(files, columns, output)) output.result(line);
  for (const problem of problems) output.result(`Problem: ${problem}`);
  return {...inspection} satisfies Body<BundleInspectDocument>;
}

function describeMatches(setting: string, patterns: readonly PatternMatches[]): readonly string[] {
  return patterns.map(
    ({pattern, files}) => `${setting.padEnd(9)}  ${pattern}  (${String(files)} file${files === 1 ? '' : 's'})`,
  );
}
