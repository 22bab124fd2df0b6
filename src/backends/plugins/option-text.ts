import {inspect} from 'node:util';
import type {StandardSchemaV1} from '@standard-schema/spec';
import {parseJson, textOrJson} from '../../text/json.js';

/** An option of a backend from a flag or a variable. The backend's schema decides whether a text stays one. */
export class OptionText {
  /** @param json what it is if the variable is a JSON object: the schema gets that */
  constructor(
    readonly text: string,
    readonly json?: {readonly value: unknown},
  ) {}

  /** Of a value of a JSON object. */
  static of(value: unknown): OptionText {
    return new OptionText(textOrJson(value), {value});
  }

  /** What it means as JSON, or else the text. */
  get shown(): unknown {
    if (this.json) return this.json.value;
    try {
      return parseJson(this.text);
    } catch {
      return this.text;
    }
  }

  toJSON(): unknown {
    return this.shown;
  }

  [inspect.custom](): string {
    return inspect(this.shown);
  }
}

/** Every string in a value. Secrets may have been parsed as numbers, or be nested in arrays and objects. */
export function stringsIn(value: unknown): readonly string[] {
  if (value instanceof OptionText) return [value.text, value.shown].flatMap(stringsIn);
  if (typeof value === 'string') return [value, value.trim()];
  if (typeof value === 'number') return [String(value)];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

/** The option that an issue is about. Undefined if it is about all of them, or does not say. */
function optionOf({path}: StandardSchemaV1.Issue): string | undefined {
  const [first] = path ?? [];
  return first === undefined ? undefined : String(typeof first === 'object' ? first.key : first);
}

/** Validates options. An option is only parsed as JSON if the schema refuses it as text: `007` may be a name. */
export async function validateOptionTexts(
  schema: StandardSchemaV1,
  values: Readonly<Record<string, unknown>>,
): Promise<StandardSchemaV1.Result<unknown>> {
  const validate = async (isParsed: (name: string) => boolean) => {
    const valueOf = (name: string, value: unknown): unknown => {
      if (!(value instanceof OptionText)) return value;
      return isParsed(name) || value.json ? value.shown : value.text;
    };
    const options = Object.entries(values).map(([name, value]) => [name, valueOf(name, value)] as const);
    return schema['~standard'].validate(Object.fromEntries(options));
  };
  const asTexts = await validate(() => false);
  if (!asTexts.issues) return asTexts;
  const refused = new Set(asTexts.issues.map(optionOf));
  const parsed = await validate((name) => refused.has(name));
  // A schema that only refuses the whole, such as a union, names no option: then all that are JSON are parsed.
  if (!parsed.issues?.some((issue) => optionOf(issue) === undefined)) return parsed;
  const guessed = await validate(() => true);
  return guessed.issues ? parsed : guessed;
}
