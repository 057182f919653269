// Writes plot.min.js, and the licences of all that is in it, to the report's assets.
// Usage, with Node 20 or newer: npm ci && npm run build
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const assets = new URL("../../src/pueval/report/assets/", import.meta.url).pathname;
mkdirSync(assets, { recursive: true });

const result = await build({
  entryPoints: ["entry.js"],
  bundle: true,
  minify: true,
  format: "iife",
  globalName: "Plot",
  target: "es2020",
  charset: "ascii",
  legalComments: "none",
  metafile: true,
  write: false,
});

function packageOf(path) {
  const parts = path.split("node_modules/").pop().split("/");
  return parts[0].startsWith("@") ? `${parts[0]}/${parts[1]}` : parts[0];
}

const [output] = Object.values(result.metafile.outputs);
const names = new Set(
  Object.entries(output.inputs)
    .filter(([path, input]) => path.includes("node_modules/") && input.bytesInOutput > 0)
    .map(([path]) => packageOf(path)),
);

// Some packages are published with the code of others already in them.
const inside = {
  "d3-array": ["internmap"],
  "d3-delaunay": ["delaunator", "robust-predicates"],
};
for (const [name, others] of Object.entries(inside)) {
  if (names.has(name)) others.forEach((other) => names.add(other));
}

// Packages with the same licence but another year or holder share one text.
const texts = new Map();
for (const name of [...names].sort()) {
  const folder = join("node_modules", name);
  const { version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
  if (!file) throw new Error(`${name} has no licence file`);
  const whole = readFileSync(join(folder, file), "utf8").trim();
  const holders = whole.match(/^Copyright.*$/gm) ?? [];
  const text = whole.replace(/^(Copyright.*|ISC License)$/gm, "").trim().replace(/\s+/g, " ");
  const group = texts.get(text) ?? { license, packages: [] };
  group.packages.push(`${name} ${version}${holders.length ? `: ${holders.join("; ")}` : ""}`);
  texts.set(text, group);
}

function wrapped(text, width = 96) {
  const lines = [""];
  for (const word of text.split(" ")) {
    if (lines.at(-1).length + word.length + 1 > width) lines.push("");
    lines.push(`${lines.pop()} ${word}`.trim());
  }
  return lines.join("\n");
}

const notice = [...texts]
  .map(([text, { license, packages }]) => `${packages.join("\n")}\n\n${license}: ${wrapped(text)}`)
  .join("\n\n");
writeFileSync(join(assets, "plot.LICENSES.txt"), `${notice}\n`);
writeFileSync(join(assets, "plot.min.js"), `/*!\n${notice}\n*/\n${result.outputFiles[0].text}`);
