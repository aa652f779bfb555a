# workload.pl - hashes, regular expressions, sorting with a block, recursion, formats
use strict;
use warnings;

sub ack { my ($m, $n) = @_; return $m == 0 ? $n + 1 : ack($m - 1, $n == 0 ? 1 : ack($m, $n - 1)); }

while (1) {
	my %count;
	my $text = join ' ', map { ($_ * 7919) % 1009 } 1 .. 3000;
	$count{$_}++ for split /\s+/, $text;
	my @order = sort { $count{$b} <=> $count{$a} || $a cmp $b } keys %count;
	(my $copy = $text) =~ s/(\d)(\d+)/$2 . sprintf('%03d', $1)/ge;
	my $n = () = $copy =~ /1(?:2|3)+4?/g;
	no warnings 'recursion';
	ack(2, 6);
}
