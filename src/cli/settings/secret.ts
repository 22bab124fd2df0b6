import {inspect} from 'node:util';

const mask = '********';

/** A secret value. Printing it prints a mask; `reveal()` is for code that sends it. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  /** The value itself. */
  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return mask;
  }

  toJSON(): string {
    return mask;
  }

  [inspect.custom](): string {
    return mask;
  }
}

const secretName = /^(?:.*(?:apikey|clientsecret|token|password|secret|privatekey)|credentials?)$/;

/** Whether the name of a key or a variable sounds like a secret. */
export function isSecretName(name: string): boolean {
  return secretName.test(plainName(name));
}

/** A name without word separators. */
export function plainName(name: string): string {
  return name.replaceAll(/[-_]/g, '').toLowerCase();
}
