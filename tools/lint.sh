#!/usr/bin/env bash
# Checks what a program can check of the sources' form: clang-format, shellcheck, the width of the pages, and clang-tidy
# (.clang-tidy) on the library.
#
#   tools/lint.sh            all of it
#   tools/lint.sh --quick    without clang-tidy
#   tools/lint.sh --fix      formats the sources, and ends
#
# The last line is `lint: N passed, N failed`.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
. tools/stages.sh

withTidy=1
for argument in "$@"; do
  case $argument in
    --quick) withTidy=0 ;;
    --fix)
      git ls-files '*.h' '*.cpp' | xargs clang-format -i
      exit 0
      ;;
    -h | --help)
      sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "${BASH_SOURCE[0]}"
      exit 0
      ;;
    *)
      echo "lint: unknown option $argument (known: --quick, --fix)." >&2
      exit 2
      ;;
  esac
done

passed=0
failed=0
check() { # name, command...
  if stage "$@"; then
    passed=$((passed + 1))
  else
    failed=$((failed + 1))
    echo "FAILED: $1"
  fi
}

format() { git ls-files '*.h' '*.cpp' | xargs -P "$(nproc)" -n 40 clang-format --dry-run -Werror; }

shell() { git ls-files '*.sh' .ci/run | xargs shellcheck -x --severity=warning; }

# Prose of the pages, but not tables, code and lines that are one long word. docs/operators.md is generated.
width() {
  git ls-files '*.md' | grep -v '^docs/operators\.md$' | xargs awk '
    FNR == 1 { code = 0 }
    /^ *```/ { code = !code }
    !code && !/^ *\|/ && length($0) > 100 && NF > 2 { print FILENAME ":" FNR ": " length($0) " columns"; bad = 1 }
    END { exit bad }'
}

# Configured without precompiled headers, which are another compiler's. What core includes of kernels is generated. Files
# that a unity build makes one are read as one, so that their headers are read once.
tidy() {
  { cmake --preset linux-tsan -B build/lint -DDIMPLE_SANITIZE= -DDIMPLE_UNITY=ON &&
    cmake --build build/lint --target dimple_kernel_interfaces; } >build/lint.log 2>&1 || {
    cat build/lint.log
    return 1
  }
  # Direct3D 12's files are compiled for Windows, or over libvkd3d.
  sed -n 's/^ *"file": "\(.*\)",\{0,1\}$/\1/p' build/lint/compile_commands.json |
    grep -E "^$root/(build/lint/)?(core|api|backend_vulkan)/" |
    xargs -P "$(nproc)" -n 1 clang-tidy -p build/lint --quiet --warnings-as-errors='*' \
      --checks=-bugprone-suspicious-include 2>build/lint.err
}

stage "set-up" tools/setup.sh --lint
check "clang-format" format
check "shellcheck" shell
check "width of pages" width
((!withTidy)) || check "clang-tidy" tidy
printStages
echo "lint: $passed passed, $failed failed"
((failed == 0))
