import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import * as tacet from '../../../../Sources/Service/API/BrowserClient/tacet.js';
import { source } from './support.mjs';

const declarations = readFileSync(source('tacet.d.ts'), 'utf8');
const isClass = (value) => String(value).startsWith('class ');

/** The names of the calls that a class declares. */
function declaredCalls(name) {
  const [, body] = new RegExp(`^export class ${name}\\b.*?\\{\n(.*?)^\\}`, 'ms').exec(declarations);
  return [...body.matchAll(/^ {2}(\w+)\(/gm)].map(([, call]) => call).filter((call) => call !== 'constructor');
}

describe('The declarations', () => {
  test('name what the module exports, and nothing else', () => {
    const declared = [...declarations.matchAll(/^export (?:class|function) (\w+)/gm)].map(([, name]) => name);
    assert.deepEqual(declared.sort(), Object.keys(tacet).sort());
  });

  const classes = Object.entries(tacet).filter(([, value]) => isClass(value) && value !== tacet.TacetError);
  for (const [name, value] of classes) {
    test(`of ${name} have the calls of the class`, () => {
      const members = Object.entries(Object.getOwnPropertyDescriptors(value.prototype));
      const isCall = ([call, member]) => call !== 'constructor' && typeof member.value === 'function';
      const calls = members.filter(isCall).map(([call]) => call);
      assert.deepEqual(declaredCalls(name).sort(), calls.sort());
    });
  }

  test('have a comment for each export', () => {
    const lines = declarations.split('\n');
    const isCommented = (index) => /^( \*\/|\/\*\*.*\*\/)$/.test(lines[index - 1]);
    const bare = lines.filter((line, index) => line.startsWith('export ') && !isCommented(index));
    assert.deepEqual(bare, []);
  });
});
