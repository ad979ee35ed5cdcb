// Writes what the types of each platform say of its messages: telegram.json, discord.json and
// slack.json beside this file, with the versions of the packages that package.json pins.
//
// `kinds`: every kind of update or event, and every subtype or type of a message.
// `paths`: every path in a message to a string, a file, or an object that has neither inside, and
// after it the type that has the field, and `file`, `object` or `any` if it is no string. `{bold}` behind a part of a path says which `type` the
// object there has. A path ends where it would enter a type in which it already is: a quoted
// message, a nested block, and a bold text in an italic one, are not followed again. Slack's types
// nest all blocks in all blocks of all attachments: each of them is entered once, on a shortest path,
// and every other path to it ends there. A path that ends so has `again` behind it. Their names say nothing, so they are left out.

import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const modules = join(here, "node_modules");
const require = createRequire(import.meta.url);
const ts = require("typescript");
const F = ts.TypeFlags;

const file = (path) => join(modules, path);
const RESPONSES = "@slack/web-api/dist/types/response";
const SOURCES = {
  telegram: {
    packages: ["@grammyjs/types"],
    roots: [["", "@grammyjs/types/message.d.ts", "Message"]],
    kinds: [
      ["update", "@grammyjs/types/update.d.ts", "Update", "fields"],
      ["message", "@grammyjs/types/message.d.ts", "Message", "fields"],
    ],
    same: { ReplyMessage: "Message", MaybeInaccessibleMessage: "Message" },
  },
  discord: {
    packages: ["discord-api-types"],
    roots: [["", "discord-api-types/payloads/v10/message.d.ts", "APIMessage"]],
    kinds: [
      ["event", "discord-api-types/gateway/v10.d.ts", "GatewayDispatchEvents", "enum"],
      ["type", "discord-api-types/payloads/v10/message.d.ts", "MessageType", "enum"],
    ],
    same: {},
  },
  slack: {
    packages: ["@slack/types", "@slack/web-api"],
    roots: [
      ["", "@slack/types/dist/events/message.d.ts", "AllMessageEvents"],
      ["", "@slack/types/dist/events/app.d.ts", "AppMentionEvent"],
      ["", `${RESPONSES}/ConversationsHistoryResponse.d.ts`, "MessageElement"],
      ["files[]", `${RESPONSES}/FilesInfoResponse.d.ts`, "File"],
    ],
    kinds: [
      ["event", "@slack/types/dist/events/index.d.ts", "SlackEvent", "type"],
      ["subtype", "@slack/types/dist/events/message.d.ts", "AllMessageEvents", "subtype"],
    ],
    same: {},
    once: true,
  },
};

function open(path) {
  const program = ts.createProgram([file(path)], {
    strictNullChecks: false, // an optional field then has the type's own name
    skipLibCheck: true,
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    types: [],
  });
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file(path));
  const exported = checker.getExportsOfModule(checker.getSymbolAtLocation(source));
  const named = (name) => {
    const found = exported.find((one) => one.name === name);
    const local = found ?? source.locals.get(name);
    return checker.getDeclaredTypeOfSymbol(local);
  };
  return { checker, named };
}

const members = (type) => (type.isUnion() ? type.types : [type]);
const is = (type, flags) => (type.flags & flags) !== 0;

class Walk {
  constructor(checker, same, once) {
    this.checker = checker;
    this.same = same;
    this.once = once;
    this.lines = new Set();
    this.seen = new Set();
    this.next = [];
  }

  from(type, path) {
    this.enter(type, path, "", []);
    while (this.next.length > 0) this.object(...this.next.shift());
  }

  nameOf(type) {
    const name = type.aliasSymbol?.name ?? type.symbol?.name ?? "";
    if (name === "" && type.isIntersection()) return this.nameOf(type.types[0]);
    return this.same[name] ?? (name.startsWith("__") ? "" : name);
  }

  fieldsOf(type) {
    return this.checker
      .getPropertiesOfType(type)
      .map((one) => [one.name, this.checker.getTypeOfSymbol(one)]);
  }

  // Writes the paths in `type`; returns whether there is any string, file or bare object in it.
  enter(type, path, owner, inside) {
    if (is(type, F.StringLiteral | F.EnumLike | F.NumberLike | F.BooleanLike | F.BigIntLike)) return false;
    if (is(type, F.Null | F.Undefined | F.Never | F.Void)) return false;
    if (is(type, F.String | F.TemplateLiteral | F.StringMapping)) return this.put(path, owner);
    if (is(type, F.Any | F.Unknown)) return this.put(path, owner, "any");
    if (type.isIntersection() && type.types.some((one) => is(one, F.String))) return this.put(path, owner);
    const name = this.nameOf(type);
    if (!this.once && name !== "" && inside.includes(name)) {
      return this.put(path, owner, members(type).some((one) => is(one, F.String)) ? "" : "again");
    }
    const within = name === "" ? inside : [...inside, name];
    if (type.isUnion()) {
      return type.types.map((one) => this.enter(one, path, owner, within)).some(Boolean);
    }
    if (this.checker.isArrayType(type) || this.checker.isTupleType(type)) {
      return this.checker
        .getTypeArguments(type)
        .map((one) => this.enter(one, `${path}[]`, owner, inside))
        .some(Boolean);
    }
    if (!this.once) return this.object(type, path, owner, within);
    if (name !== "" && this.seen.has(name)) return this.put(path, owner, "again");
    this.seen.add(name);
    this.next.push([type, path, owner, [name || this.titleOf(type, inside)]]);
    return true;
  }

  object(type, path, owner, inside) {
    const fields = this.fieldsOf(type);
    const names = fields.map(([name]) => name);
    const isFile = names.includes("file_unique_id");
    if (isFile) this.put(path, owner, "file");
    const kind = this.kindOf(fields);
    const at = kind === "" || path === "" ? path : `${path}{${kind}}`;
    const said = fields.map(([name, of]) => {
      if (isFile && ["file_id", "file_unique_id"].includes(name)) return true;
      return this.enter(of, at === "" ? name : `${at}.${name}`, `${this.titleOf(type, inside)}.${name}`, inside);
    });
    for (const info of this.checker.getIndexInfosOfType(type)) {
      said.push(this.enter(info.type, `${at}.*`, `${this.titleOf(type, inside)}.*`, inside));
    }
    return said.some(Boolean) || this.put(at, owner, "object");
  }

  titleOf(type, inside) {
    return this.nameOf(type) || inside[inside.length - 1] || "";
  }

  kindOf(fields) {
    const found = fields.find(([name]) => name === "type");
    if (found === undefined) return "";
    const values = members(found[1]).map((one) => one.value);
    return values.length === 1 && values[0] !== undefined ? String(values[0]) : "";
  }

  put(path, owner, what = "") {
    if (path !== "") this.lines.add(`${path} ${this.once ? "-" : owner || "-"} ${what}`.trim().replace(/ -$/, ""));
    return true;
  }
}

function kindsOf([title, path, name, how]) {
  const { checker, named } = open(path);
  const type = named(name);
  const fields = (one) => checker.getPropertiesOfType(one);
  if (how === "fields") return fields(type).map((one) => `${title} ${one.name}`);
  if (how === "enum") {
    const value = (one) => checker.getTypeOfSymbol(one).value;
    return [...type.symbol.exports.values()].map((one) => `${title} ${one.name} ${value(one)}`);
  }
  const values = members(type).flatMap((one) => {
    const found = fields(one).find((field) => field.name === how);
    return found === undefined ? [] : members(checker.getTypeOfSymbol(found)).map((it) => it.value);
  });
  return values.filter((one) => one !== undefined).map((one) => `${title} ${one}`);
}

for (const [platform, { packages, roots, kinds, same, once }] of Object.entries(SOURCES)) {
  const paths = new Set();
  for (const [prefix, path, name] of roots) {
    const { checker, named } = open(path);
    const walk = new Walk(checker, same, once);
    walk.from(named(name), prefix);
    walk.lines.forEach((one) => paths.add(one));
  }
  const found = {
    packages: packages.map((one) => `${one} ${require(file(`${one}/package.json`)).version}`),
    kinds: [...new Set(kinds.flatMap(kindsOf))].sort(),
    paths: [...paths].sort(),
  };
  writeFileSync(join(here, `${platform}.json`), `${JSON.stringify(found, null, 0).replaceAll('":["', '":[\n"').replaceAll('","', '",\n"')}\n`);
  console.log(platform, found.packages.join(", "), found.kinds.length, "kinds,", found.paths.length, "paths");
}
