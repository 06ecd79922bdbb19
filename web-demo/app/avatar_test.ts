import { equal } from "node:assert/strict";
import { initialsOf } from "./avatar.tsx";

Deno.test("initialsOf() takes the first letters of two words, in any script", () => {
  equal(initialsOf("Maya Lindqvist"), "ML");
  equal(initialsOf("  sam   okafor the third "), "SO");
  equal(initialsOf("欧阳小明"), "欧");
  equal(initialsOf("فاطمة الزهراء"), "فا");
  equal(initialsOf(""), "");
});

Deno.test("initialsOf() keeps a letter whole that takes two places", () => {
  equal(initialsOf("🦊 Fox"), "🦊F");
  equal(initialsOf("𠮷田 太郎"), "𠮷太");
});
