# Builds the sources around it: nix run "git+<repository>?dir=packaging/nix" -- --build make -- ./test.sh
{
  description = "Find the change that broke a test";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" ];
      forEach = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
      manifest = nixpkgs.lib.importTOML ../../Cargo.toml;
    in
    {
      packages = forEach (pkgs: {
        default = pkgs.rustPlatform.buildRustPackage {
          pname = "git-idd";
          version = manifest.workspace.package.version;
          src = ../..;
          cargoLock.lockFile = ../../Cargo.lock;
          cargoBuildFlags = [ "--package" "git-idd" ];
          # The tests need compilers, interpreters and a browser; scripts/check.sh runs them.
          doCheck = false;
          postInstall = ''
            mkdir -p $out/share/man/man1 $out/share/bash-completion/completions
            mkdir -p $out/share/zsh/site-functions $out/share/fish/vendor_conf.d
            $out/bin/git-idd man >$out/share/man/man1/git-idd.1
            $out/bin/git-idd completions bash >$out/share/bash-completion/completions/git-idd
            $out/bin/git-idd completions zsh >$out/share/zsh/site-functions/_git-idd
            $out/bin/git-idd completions fish >$out/share/fish/vendor_conf.d/git-idd.fish
          '';
          meta = {
            inherit (manifest.package) description;
            license = pkgs.lib.licenses.mit;
            mainProgram = "git-idd";
            platforms = systems;
          };
        };
      });
    };
}
