# git-idd for Homebrew on Linux, built from the sources of a release.
class GitIdd < Formula
  desc "Find the change that broke a test"
  homepage "@REPOSITORY@"
  url "@REPOSITORY@/releases/download/v0.2.0/git-idd-0.2.0.tar.gz"
  sha256 "@SHA256_SOURCE@"
  license "MIT"

  depends_on "rust" => :build
  depends_on "git"
  depends_on :linux

  def install
    system "cargo", "install", *std_cargo_args
    (buildpath/"git-idd.1").write Utils.safe_popen_read(bin/"git-idd", "man")
    man1.install "git-idd.1"
    { "bash" => bash_completion/"git-idd", "zsh" => zsh_completion/"_git-idd",
      "fish" => share/"fish/vendor_conf.d/git-idd.fish" }.each do |shell, file|
      file.dirname.mkpath
      file.write Utils.safe_popen_read(bin/"git-idd", "completions", shell)
    end
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/git-idd -V")
    system "git", "init", "--quiet"
    system "git", "idd", "list"
  end
end
