# Sourced by tools/servecast and tools/test: installs what the build needs and configures it. Bash; no python, no node.
# Everything said goes to stderr, because stdout belongs to the program.

say() { printf '%s: %s\n' "$program" "$*" >&2; }
fail() { say "$@"; exit 1; }

# Identity of a build folder: moving the checkout or entering another distribution makes a new one necessary.
build_identity() {
  local ID=unknown VERSION_ID=
  [[ -r /etc/os-release ]] && . /etc/os-release
  printf '%s %s%s %s' "$root" "$ID" "$VERSION_ID" "$(uname -m)"
}

# Sets `packages`. Debian 12 keeps Boost 1.74 as its default and the 1.81 we need beside it.
choose_packages() {
  local VERSION_CODENAME= boost=
  [[ -r /etc/os-release ]] && . /etc/os-release
  [[ $VERSION_CODENAME == bookworm ]] && boost=1.81
  packages=(g++ cmake ninja-build "libboost$boost-dev" "libboost-iostreams$boost-dev" nlohmann-json3-dev libcli11-dev
            libfmt-dev libeigen3-dev)
  if [[ ${1:-} == tests ]]; then packages+=(catch2); fi
}

missing_packages() {
  local package status
  for package in "${packages[@]}"; do
    status=$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) || status=
    [[ $status == installed ]] || printf '%s\n' "$package"
  done
}

# apt_get ARGS...: as root or through sudo, never asking, its output in the log.
apt_get() {
  local as_root=()
  if [[ $(id -u) != 0 ]]; then
    command -v sudo >/dev/null || fail "installing needs root, and there is no sudo; as root: apt-get install ${missing[*]}"
    as_root=(sudo)
    [[ -t 2 && -r /dev/tty ]] || as_root=(sudo -n)
  fi
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" \
    </dev/null >>"$root/build/install.log" 2>&1
}

# install_missing [tests]: apt packages that are not there yet. --no-remove: never at the price of somebody's packages.
install_missing() {
  local missing updated=yes
  choose_packages "${1:-}"
  if ! command -v apt-get >/dev/null || ! command -v dpkg-query >/dev/null; then
    command -v cmake >/dev/null && command -v ninja >/dev/null && return
    fail "cannot install packages here (no apt); install what vcpkg.json lists, cmake, ninja and a C++20 compiler"
  fi
  mapfile -t missing < <(missing_packages)
  (( ${#missing[@]} )) || return 0
  say "installing with apt: ${missing[*]}"
  : >"$root/build/install.log"
  apt_get -o APT::Update::Error-Mode=any update || updated=no
  apt_get install --no-install-recommends --no-remove "${missing[@]}" && return
  tail -n 5 "$root/build/install.log" >&2
  [[ $updated == yes ]] || say "apt-get update failed too: is there a network?"
  fail "apt could not install: ${missing[*]} (log: $root/build/install.log)"
}

# configure PRESET FOLDER [CMAKE ARGS...]: only where no build is set up yet, or where it belongs to another place.
configure() {
  local preset=$1 folder=$2 identity
  shift 2
  identity=$(build_identity)
  if [[ -e $folder/build.ninja && $(cat "$folder/identity" 2>/dev/null) == "$identity" && $# == 0 ]]; then return; fi
  if [[ $(cat "$folder/identity" 2>/dev/null) != "$identity" ]]; then rm -rf "$folder"; fi
  mkdir -p "$folder"
  say "configuring $folder"
  if ! (cd "$root" && cmake --preset "$preset" "$@") </dev/null >"$folder/configure.log" 2>&1; then
    cat "$folder/configure.log" >&2
    fail "cmake could not configure $folder"
  fi
  printf '%s' "$identity" >"$folder/identity"
}

# build FOLDER [TARGETS...]: progress on a terminal, else only what compilers say.
build() {
  local folder=$1 quiet=(--quiet)
  shift
  [[ -t 2 ]] && quiet=()
  ninja -C "$folder" "${quiet[@]}" "$@" </dev/null >&2 || fail "the build failed (see above)"
}
