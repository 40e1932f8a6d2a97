# shellcheck shell=bash disable=SC2154  # the variables are those of setup.sh
# Sourced by setup.sh: a lavapipe whose subgroups multiply matrices (VK_KHR_cooperative_matrix), which no release of
# Debian has yet. Debian's unstable suite is unpacked under build/deps/matrices with all that it loads, down to the C
# library, so that nothing of it meets the system's own. What cannot be had is named in build/deps/matrices/missing.txt,
# and then tests that want it are skipped.

unpackMatrices() { # folder
  local folder=$1 work=$1/.unpack deb
  mkdir -p "$work/archives/partial" || return
  prepareSuites "$work" sid || return
  # With nothing installed, apt takes everything that the packages depend on.
  : >"$work/status"
  retry apt-get "${suiteOptions[@]}" -y --no-install-recommends --download-only -o "Dir::State::status=$work/status" \
    -o "Dir::Cache::archives=$work/archives" -o Debug::NoLocking=1 install \
    mesa-vulkan-drivers libvulkan1 vulkan-validationlayers || return
  for deb in "$work"/archives/*.deb; do dpkg-deb -x "$deb" "$folder/root" || return; done
  rm -rf "$work"
  local driver file loader
  driver=$(firstFile "$folder"/root/usr/lib/*/libvulkan_lvp.so) || return
  for file in "$folder"/root/usr/share/vulkan/icd.d/lvp_icd*.json; do
    sed "s|\"library_path\": *\"[^\"]*\"|\"library_path\": \"$driver\"|" "$file" >"$folder/icd.json" || return
  done
  loader=$(firstFile "$folder"/root/usr/lib/*/ld-linux*.so.*) || return
  cat >"$folder/run.sh" <<TEXT || return
#!/bin/sh
# run.sh PROGRAM ARGUMENTS...: runs a program with this driver and its C library.
export VK_DRIVER_FILES="$folder/icd.json" VK_LAYER_PATH="$folder/root/usr/share/vulkan/explicit_layer.d"
exec "$loader" --library-path "${driver%/*}" "\$@"
TEXT
  chmod +x "$folder/run.sh"
}

setupMatrices() {
  local folder=$deps/matrices stamp
  stamp="$root $(sha256sum <"$root/tools/setup_matrices.sh")"
  [[ ! -f $folder/stamp || $(<"$folder/stamp") != "$stamp" ]] || return 0
  rm -rf "$folder"
  mkdir -p "$folder"
  say "unpacking a lavapipe with cooperative matrices into build/deps/matrices"
  if (unpackMatrices "$folder") >"$folder/log.txt" 2>&1; then
    echo "$stamp" >"$folder/stamp"
  else
    tail -1 "$folder/log.txt" >"$folder/missing.txt"
    say "no lavapipe with cooperative matrices: $(<"$folder/missing.txt")"
  fi
}
