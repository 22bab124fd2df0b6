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

type Options = Readonly<Record<string, unknown>>;
type Issue = StandardSchemaV1.Issue;

/** The option that an issue is about. Undefined if it is about all of them, or does not say. */
function optionOf({path}: Issue): string | undefined {
  const [first] = path ?? [];
  return first === undefined ? undefined : String(typeof first === 'object' ? first.key : first);
}

/**
 * Validates options. Text stays text if the schema accepts it: `007` is a name wherever a name is expected. An option
 * is only parsed as JSON if the schema refuses it as text.
 */
export async function validateOptionTexts(
  schema: StandardSchemaV1,
  given: Options,
): Promise<StandardSchemaV1.Result<unknown>> {
  const texts = Object.keys(given).filter((name) => isJson(given[name]));
  const validate = async (parsed: ReadonlySet<string>) => {
    const valueOf = (name: string, value: unknown): unknown => {
      if (!(value instanceof OptionText)) return value;
      return parsed.has(name) ? value.shown : value.text;
    };
    const options = Object.entries(given).map(([name, value]) => [name, valueOf(name, value)] as const);
    return schema['~standard'].validate(Object.fromEntries(options));
  };
  const parsed = new Set<string>();
  let result = await validate(parsed);
  for (;;) {
    const {issues = []} = result;
    const refused = texts.filter((name) => !parsed.has(name) && issues.some((issue) => optionOf(issue) === name));
    if (refused.length === 0) break;
    for (const name of refused) parsed.add(name);
    result = await validate(parsed);
  }
  // A schema that only refuses the whole, such as a union, names no option: then all that are JSON are parsed.
  if (!result.issues?.some((issue) => optionOf(issue) === undefined)) return result;
  const guessed = await validate(new Set(texts));
  return guessed.issues ? result : guessed;
}

function isJson(value: unknown): boolean {
  return value instanceof OptionText && value.json !== undefined;
}
