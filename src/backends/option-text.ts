import {inspect} from 'node:util';
import type {StandardSchemaV1} from '@standard-schema/spec';
import {parseJson} from '../errors/json.js';

/** An option of a backend as text, from a flag or a variable. The backend's schema decides whether it stays text. */
export class OptionText {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** What the text means as JSON, if it is JSON. */
  get json(): {readonly value: unknown} | undefined {
    try {
      return {value: parseJson(this.text)};
    } catch {
      return undefined;
    }
  }

  /** For showing it: what it means as JSON, or else the text. */
  get shown(): unknown {
    return this.json === undefined ? this.text : this.json.value;
  }

  toJSON(): unknown {
    return this.shown;
  }

  [inspect.custom](): string {
    return inspect(this.shown);
  }
}

type Schema = StandardSchemaV1;
type Result = StandardSchemaV1.Result<unknown>;
type Issue = StandardSchemaV1.Issue;
type Options = Readonly<Record<string, unknown>>;

/** The option that an issue is about. Undefined if it is about all of them, or does not say. */
function optionOf({path}: Issue): string | undefined {
  const [first] = path ?? [];
  return first === undefined ? undefined : String(typeof first === 'object' ? first.key : first);
}

/**
 * Validates options. Text stays text if the schema accepts it: `007` is a name wherever a name is expected. An option
 * is only parsed as JSON if the schema refuses it as text. If it refuses both, the issues tell why.
 */
export async function validateOptionTexts(schema: Schema, given: Options): Promise<Result> {
  const texts: Options = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, value instanceof OptionText ? value.text : value]),
  );
  const meanings = new Map<string, unknown>();
  for (const [name, value] of Object.entries(given)) {
    const json = value instanceof OptionText ? value.json : undefined;
    if (json !== undefined) meanings.set(name, json.value);
  }
  const validate = async (parsed: ReadonlySet<string>): Promise<Result> => {
    const meant = [...parsed].map((name) => [name, meanings.get(name)] as const);
    return schema['~standard'].validate({...texts, ...Object.fromEntries(meant)});
  };
  const asText = await validate(new Set());
  if (!asText.issues || meanings.size === 0) return asText;
  const named = await parseNamed(validate, [...meanings.keys()], asText);
  if (!named.result.issues) return named.result;
  const isVague = named.result.issues.some((issue) => optionOf(issue) === undefined);
  // A schema that only refuses the whole, such as a union, names no option: then all that are JSON are parsed.
  const guessed = isVague ? await validate(new Set(meanings.keys())) : named.result;
  return guessed.issues ? {issues: [...textIssues(asText.issues, named), ...named.result.issues]} : guessed;
}

type Validate = (parsed: ReadonlySet<string>) => Promise<Result>;
interface Attempt {
  /** The options that are parsed. */
  readonly parsed: ReadonlySet<string>;
  readonly result: Result;
}

/** Parses the options that issues name, until there are no more such issues. */
async function parseNamed(validate: Validate, candidates: readonly string[], asText: Result): Promise<Attempt> {
  const parsed = new Set<string>();
  let result = asText;
  for (;;) {
    const refused = new Set(result.issues?.map(optionOf));
    const next = candidates.filter((name) => refused.has(name) && !parsed.has(name));
    if (next.length === 0) return {parsed, result};
    for (const name of next) parsed.add(name);
    result = await validate(new Set(parsed));
  }
}

/** What the schema said about the texts of options that it refuses as JSON, too. */
function textIssues(issues: readonly Issue[], {parsed, result}: Attempt): readonly Issue[] {
  const refused = result.issues ?? [];
  return issues.filter((issue) => {
    const name = optionOf(issue);
    if (name === undefined || !parsed.has(name)) return false;
    const others = refused.filter((other) => optionOf(other) === name);
    return others.length > 0 && others.every(({message}) => message !== issue.message);
  });
}
